"""A personal pool whose negotiator has no bundle: HTCondor's configuration is all of its policies, also after condor_reconfig."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from condor_pool import PoolSettings, PoolUnavailableError, condor_pool, root_folder

PATIENCE = 90.0
ROOT = Path(__file__).parents[3]
#: The collector has another port after each start; who administrates is a matter of hosts.
SETTINGS = f"""use ROLE:Personal
NEGOTIATOR = {Path(sys.executable).with_name("negotiator-daemon")}
ALLOW_ADMINISTRATOR = $(CONDOR_HOST)
DENY_ADMINISTRATOR = mallory@*
NEGOTIATOR.NEGOTIATOR_INTERVAL = 1
NEGOTIATOR_INTERVAL = 600
NEGOTIATOR_CYCLE_DELAY = 1
LIC_LIMIT = 1
CLAIM_WORKLIFE = 0
SLOT_TYPE_1 = cpus=1, memory=512, disk=1%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 4
"""
SUBMIT = """executable = /bin/sleep
arguments = {}
log = /dev/null
request_memory = 1
request_disk = 1024
concurrency_limits = lic
queue {}
"""


@pytest.fixture(scope="module")
def pool():
    """Start a personal pool with this program as its negotiator."""
    try:
        root_folder()
    except PoolUnavailableError as error:
        pytest.skip(str(error))
    folders = tuple(map(str, dict.fromkeys((ROOT, sys.prefix, sys.base_prefix))))
    with condor_pool(PoolSettings("open", more=SETTINGS, folders=folders)) as started:
        until(lambda: addresses(started), started)
        yield started


def until(condition, pool):
    """Wait until a condition holds; return its value."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.2)
    pytest.fail(pool.log("NegotiatorLog")[-4000:] + pool.log("MasterLog")[-1000:])


def addresses(pool):
    """Return the addresses of the advertised negotiator; empty without one."""
    return pool.inside("run", "condor_status", "-negotiator", "-af", "MyAddress", check=False).strip()


def reconfigure(pool, *settings):
    """Change HTCondor's configuration as an administrator does; wait until the negotiator has read it."""
    before = pool.log("NegotiatorLog").count("trigger=")
    with (pool.root / "etc" / "condor" / "condor_config").open("a") as file:
        file.writelines(f"{each}\n" for each in settings)
    pool.inside("run", "condor_reconfig")
    until(lambda: pool.log("NegotiatorLog").count("trigger=") > before, pool)


def status(pool):
    """Return the status that ``negotiator status`` prints."""
    state = pool.root / "pool" / "spool" / "negotiator"
    command = [sys.executable, "-m", "negotiator", "status", "--json", "--state", str(state)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return json.loads(done.stdout)["status"]


def running(pool, cluster):
    return pool.inside("run", "condor_q", "-all", cluster, "-af", "JobStatus").split().count("2")


def test_jobs_run_and_limit_and_interval_are_those_of_the_pool_after_condor_reconfig_too(pool):
    cluster = pool.submit(SUBMIT.format(600, 3))
    until(lambda: running(pool, cluster) == 1, pool)
    reason = ("condor_q", "-all", cluster, "-af", "LastRejMatchReason")
    until(lambda: "concurrency limit lic" in pool.inside("run", *reason), pool)
    reconfigure(pool, "LIC_LIMIT = 2")
    until(lambda: running(pool, cluster) == 2, pool)
    reconfigure(pool, "NEGOTIATOR.NEGOTIATOR_INTERVAL = 333", "LIC_LIMIT = 3")
    now = until(lambda: (now := status(pool))["cycle_since"] is None and now, pool)
    assert 330 < now["next_cycle"] - now["last"]["begun"] < 336
    pool.remove_jobs()


def test_an_invalid_value_changes_nothing_and_the_status_has_the_reason(pool):
    reconfigure(pool, "LIC_LIMIT = 4", "NEGOTIATOR_CYCLE_DELAY = soon")
    assert "bundle rejected, the previous one stays active" in pool.log("NegotiatorLog")
    (rejection,) = status(pool)["rejection"]
    assert rejection.startswith("/etc/condor/condor_config:")
    assert "NEGOTIATOR_CYCLE_DELAY" in rejection
    stored = pool.root / "pool" / "spool" / "negotiator" / "condor_config.pool"
    assert "LIC_LIMIT = 3\n" in stored.read_text()
    reconfigure(pool, "NEGOTIATOR_CYCLE_DELAY = 1", "NEGOTIATOR.NEGOTIATOR_INTERVAL = 1")
    assert status(pool)["rejection"] == []
    assert "LIC_LIMIT = 4\n" in stored.read_text()


def test_it_serves_a_collector_that_starts_again(pool):
    pool.kill("condor_collector")
    until(
        lambda: (
            addresses(pool) and "Scheduler" in pool.inside("run", "condor_status", "-any", "-af", "MyType")
        ),
        pool,
    )
    cluster = pool.submit(SUBMIT.format(1, 1))
    until(lambda: not pool.inside("run", "condor_q", "-all", cluster, "-af", "ProcId"), pool)


def test_hosts_administrate_as_the_pools_lists_say_after_condor_reconfig_too(pool):
    """Whoever is at this host may, also without a name; later a user of another host. The master obeys that, too."""
    change = ("condor_userprio", "-setfactor", "ann@example.org")
    factors = ("condor_userprio", "-negotiator", "-allusers", "-af", "Name", "PriorityFactor")
    pool.inside("tester", *change, "500")
    until(lambda: "ann@example.org 500" in pool.inside("run", *factors, check=False), pool)
    reconfigure(pool, "ALLOW_ADMINISTRATOR = 10.9.9.9, boss@example.org")

    def is_denied():  # again: a connection may end while the port is opened with the new lists
        pool.inside("tester", *change, "600", check=False)
        return "command SET_PRIORITYFACTOR: " in pool.log("NegotiatorLog")

    until(is_denied, pool)
    # again: the negotiator is found by its ad, which the collector gets when the port is opened, and does not confirm
    found = until(lambda: pool.inside("run", *factors, check=False), pool)
    assert "ann@example.org 500" in found
