"""A real condor_master starts this program as the pool's negotiator, restarts and stops it."""

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from condor_pool import PoolSettings, PoolUnavailableError, condor_pool, root_folder
from condor_pool.modes import MOSTLY_SECURE, SHARED_PORT

PATIENCE = 90.0
ROOT = Path(__file__).parents[3]
PROGRAM = Path(sys.executable).with_name("negotiator-daemon")
#: condor_who finds a process that condor_master has started again by the name `condor_*` of its program.
LINK = "condor_negotiator"
SETTINGS = """DAEMON_LIST = MASTER COLLECTOR SCHEDD STARTD NEGOTIATOR
NEGOTIATOR = {program}
NEGOTIATOR_BUNDLE = {bundle}
NEGOTIATOR_ADDRESS_FILE = $(LOG)/.negotiator_address
NEGOTIATOR_NOT_RESPONDING_TIMEOUT = 2 * 4
MASTER_DEBUG = D_DAEMONCORE
NEGOTIATOR_DEBUG = D_MATCH
MAX_NEGOTIATOR_LOG = 1 Mb
SLOT_TYPE_1 = cpus=1, memory=512, disk=1%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 4
"""
POLICY = """source: htcondor
NEGOTIATOR_INTERVAL: 1
NEGOTIATOR_CYCLE_DELAY: 2
"""
#: As DEBUG_TIME_FORMAT is by default.
LOG_LINE = re.compile(r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d .")
SUBMIT = """executable = /bin/sleep
arguments = 1
log = /dev/null
request_memory = 1
request_disk = 1024
queue {}
"""


#: The shared port always: condor_master passes on another socket then, and it is HTCondor's default.
@pytest.fixture(scope="module", params=(*MOSTLY_SECURE[:2], SHARED_PORT))
def pool(request, tmp_path_factory):
    """Start a pool with this program as its negotiator."""
    try:
        root_folder()
    except PoolUnavailableError as error:
        pytest.skip(str(error))
    bundle = tmp_path_factory.mktemp("bundle")
    bundle.chmod(0o755)
    (bundle / "pool.yaml").write_text(POLICY)
    programs = tmp_path_factory.mktemp("programs")
    programs.chmod(0o755)
    (programs / LINK).symlink_to(PROGRAM)
    folders = tuple(map(str, dict.fromkeys((ROOT, sys.prefix, sys.base_prefix, bundle, programs))))
    mode = "open" if request.param == "open" else "secure"
    more = SETTINGS.format(program=programs / LINK, bundle=bundle)
    settings = PoolSettings(mode, shared_port=request.param == "shared port", more=more, folders=folders)
    with condor_pool(settings) as started:
        yield started


def until(condition, pool):
    """Wait until a condition holds; return its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.3)
    queue = pool.inside("run", "condor_q", "-all", "-af:j", "JobStatus", "LastRejMatchReason", check=False)
    pytest.fail(pool.log("NegotiatorLog")[-3000:] + pool.log("MasterLog")[-1000:] + queue)


@pytest.fixture
def running(pool):
    """Return the pool once its negotiator has advertised itself."""
    until(lambda: started(pool), pool)
    return pool


def started(pool):
    """Return when the advertised negotiator was started; empty without one."""
    return pool.inside("run", "condor_status", "-negotiator", "-af", "DaemonStartTime", check=False).strip()


def process(pool):
    """Return the process id of this program as condor_master's child; None if it does not run."""
    try:
        return pool.process(Path(sys.executable).name)
    except PoolUnavailableError:
        return None


def test_a_submitted_job_runs(running):
    cluster = running.submit(SUBMIT.format(2))
    until(lambda: not running.inside("run", "condor_q", "-all", cluster, "-af", "ProcId"), running)
    done = running.inside("run", "condor_history", cluster, "-af", "JobStatus")
    assert done.split() == ["4", "4"]
    assert "Completed RESCHEDULE to negotiator" in running.log("SchedLog")
    assert "Server rejected our session id" not in running.log("SchedLog")


def test_it_runs_as_htcondors_user_with_its_files_where_the_pool_has_them(running):
    owner = Path("/proc", str(process(running))).stat().st_uid
    assert owner == (running.root / "pool" / "spool").stat().st_uid != 0
    assert (running.root / "pool" / "spool" / "negotiator").stat().st_uid == owner
    until(lambda: " cycle number=" in running.log("NegotiatorLog"), running)
    address, version, _ = running.log(".negotiator_address").splitlines()
    advertised = running.inside("run", "condor_status", "-negotiator", "-af", "MyAddress", "CondorVersion")
    assert advertised == f"{address} {version}\n"


def test_condor_reconfig_makes_it_read_its_bundle_again(running):
    running.inside("run", "condor_reconfig")
    until(lambda: "trigger=signal" in running.log("NegotiatorLog"), running)


def test_condor_reconfig_of_the_negotiator_alone_makes_it_read_its_bundle_again(running):
    """By its own port, or by the pool's shared one: the pool's administrators are those of its settings."""
    before = running.log("NegotiatorLog").count("the bundle was reloaded")
    running.inside("run", "condor_reconfig", "-negotiator")
    until(lambda: running.log("NegotiatorLog").count("the bundle was reloaded") > before, running)


def test_condor_restart_of_the_negotiator_alone_starts_another_process(running):
    before, at = process(running), started(running)
    running.inside("run", "condor_restart", "-negotiator")
    until(lambda: process(running) not in {before, None}, running)
    until(lambda: started(running) not in {at, ""}, running)


def test_condor_userprio_needs_no_port_of_its_own(running):
    running.inside("run", "condor_userprio", "-setfactor", "ann@example.org", "500")
    factors = ("condor_userprio", "-negotiator", "-allusers", "-af", "Name", "PriorityFactor")
    until(lambda: "ann@example.org 500" in running.inside("run", *factors, check=False), running)


def test_who_connects_must_offer_what_the_pool_requires(running):
    """The bundle has no setting of its own. A tool that refuses encryption is denied in a secure pool."""
    address = running.log(".negotiator_address").splitlines()[0]
    tool = ("condor_ping", "-address", address, "-table", "READ")
    unencrypted = ("env", "_CONDOR_SEC_CLIENT_ENCRYPTION=NEVER", "_CONDOR_SEC_CLIENT_INTEGRITY=NEVER", *tool)
    required = running.inside("run", "condor_config_val", "SEC_DEFAULT_ENCRYPTION").lower() == "required\n"
    assert "ALLOW" in running.inside("run", *tool)
    assert ("ALLOW" not in running.inside("run", *unencrypted, check=False)) is required


def test_its_logs_have_the_lines_of_condor_negotiator_in_the_pools_form(running):
    """What administrators search for, each once: the program's own line of a match is left out."""
    running.submit(SUBMIT.format(1))
    until(lambda: "Matched" in running.log("MatchLog"), running)  # its schedd may reuse an earlier claim
    matched = re.search(
        r"Matched \d+\.\d+ tester@\S+ <\S+> preempting none <\S+> slot\d@\S+", running.log("MatchLog")
    )[0]
    until(lambda: "Finished Negotiation Cycle" in running.log("NegotiatorLog").partition(matched)[2], running)
    lines = running.log("NegotiatorLog").splitlines()
    found = [line for line in lines if LOG_LINE.match(line)]
    assert found == lines
    texts = [line.split(" ", 2)[2] for line in lines]
    for expected in (
        "---------- Started Negotiation Cycle ----------",
        "Phase 1:  Obtaining ads from collector ...",
        "Phase 4.1:  Negotiating with schedds ...",
        "---------- Finished Negotiation Cycle ----------",
    ):
        assert expected in texts
    assert sum(matched in line for line in lines) == 1
    assert all(
        line.split(" ", 2)[2].startswith(("      Matched ", "      Rejected "))
        for line in running.log("MatchLog").splitlines()
    )
    assert not [text for text in texts if text.startswith("match id=")]


def test_the_tools_find_the_daemon_its_settings_and_its_logs(running):
    until(lambda: process(running), running)

    def is_shown():
        daemons = running.inside("run", "condor_who", "-daemons", check=False)
        (line,) = [each for each in daemons.splitlines() if each.startswith("Negotiator")]
        return line.endswith(f"/{LINK}")

    until(is_shown, running)
    name = running.inside("run", "condor_status", "-negotiator", "-af", "Name").strip()
    assert name == running.inside("run", "condor_config_val", "FULL_HOSTNAME").strip()
    for options in (("NEGOTIATOR_LOG",), ("-v", "NEGOTIATOR_LOG"), ("-v", "NEGOTIATOR_INTERVAL")):
        asked = ("condor_config_val", "-subsystem", "NEGOTIATOR", *options)
        here = running.inside("run", *asked).split()
        there = running.inside("run", "condor_config_val", "-negotiator", *options).split()
        assert there[: len(here)] == here  # a default may follow
    fetched = running.inside("run", "condor_fetchlog", "-negotiator", name, "NEGOTIATOR")
    assert "STARTING UP" in fetched
    for command, words in (
        ("condor_config_val -negotiator NO_SUCH", "Not defined"),
        ("condor_config_val -negotiator -rset A=1", "failed"),
        (f"condor_fetchlog -negotiator {name} NO_SUCH", "no log file by that name"),
    ):
        assert words in running.inside("run", "sh", "-c", f"{command} 2>&1", check=False)


def test_its_log_is_replaced_when_it_is_full_or_moved_away(running):
    folder = running.root / "pool" / "log"
    with (folder / "NegotiatorLog").open("a") as log:
        log.write("full\n" * 210_000)
    until(lambda: "full\n" in running.log("NegotiatorLog.old"), running)
    until(lambda: " cycle " in running.log("NegotiatorLog"), running)
    (folder / "NegotiatorLog").rename(folder / "moved")
    until(lambda: " cycle " in running.log("NegotiatorLog"), running)


def test_condor_off_ends_it_and_removes_its_ad_and_condor_on_starts_it(running):
    running.inside("run", "condor_off", "-negotiator")
    until(lambda: process(running) is None, running)
    assert started(running) == ""
    assert running.log(".negotiator_address") == ""
    running.inside("run", "condor_on", "-negotiator")
    until(lambda: started(running), running)


def test_condor_master_starts_one_that_was_killed_again(running):
    before = process(running)
    os.kill(before, signal.SIGKILL)
    until(lambda: process(running) not in {before, None}, running)
    cluster = running.submit(SUBMIT.format(1))
    until(lambda: not running.inside("run", "condor_q", "-all", cluster, "-af", "ProcId"), running)


def alive_messages(pool, child):
    """Return how many signs of life of a process condor_master has received."""
    return pool.log("MasterLog").count(f"received childalive, pid={child}, secs=8,")


def test_it_sends_signs_of_life_and_condor_master_ends_a_process_that_hangs(running):
    """The tests of this module run longer than the timeout. condor_master looks each minute: that is tried without a shared port."""
    if "True" in running.inside("run", "condor_config_val", "USE_SHARED_PORT"):
        pytest.skip("takes a minute, and is the same with a shared port")
    child = process(running)
    before = alive_messages(running, child_of_namespace(child))
    until(lambda: alive_messages(running, child_of_namespace(child)) > before + 1, running)
    assert "appears hung" not in running.log("MasterLog")
    os.kill(child, signal.SIGSTOP)
    until(lambda: process(running) not in {child, None}, running)
    assert "appears hung! Killing it hard" in running.log("MasterLog")
    until(lambda: started(running), running)


def child_of_namespace(child):
    """Return the process id that the pool itself sees."""
    status = Path("/proc", str(child), "status").read_text()
    return next(line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:"))
