"""``negotiator status``: the health of a serving negotiator, and of one that was killed; and what the state has."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from negotiator.runtime.state import AdminAction, AdminRequest, StateStore

PLUGIN = """
from pathlib import Path
from negotiator.plugin import LivePool, PoolError, PoolSetting, PoolSource, Problem, Severity, Source, hookimpl

class Pool(LivePool):
    def __init__(self, settings, control):
        pass

    def fetch(self, ads):
        if Path("down").exists():
            raise PoolError("the collector does not answer")
        if Path("silent").exists():
            ads.add_problem(Problem(Severity.WARNING, Source("schedd s1"), "no answer within 20 s"))

    def deliver(self, decisions):
        return ()

def configuration(folder, checks):
    file = Path("interval")
    value = file.read_text() if file.exists() else "60"
    return [PoolSetting("NEGOTIATOR_INTERVAL", value, Source("/etc/condor_config", 5))]

@hookimpl
def negotiator_pool_sources():
    yield PoolSource(name="made", open=Pool, configuration=configuration)
"""
PATIENCE = 60.0


@pytest.fixture
def site(tmp_path):
    """Write a bundle with a made pool: it does not answer if a file ``down`` exists, and one schedd if ``silent`` does."""
    plugins = tmp_path / "bundle" / "plugins"
    plugins.mkdir(parents=True, mode=0o755)
    (plugins / "made.py").write_text(PLUGIN)
    (tmp_path / "bundle" / "pool.yaml").write_text("source: made\nplugins:\n  folders: [plugins]\n")
    return tmp_path


@contextmanager
def serving(folder, every=0.2):
    """Serve the pool until the block ends."""
    command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--every", str(every)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate()


def status(folder, *arguments):
    """Return the exit code and what is printed."""
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", "status", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def until(folder, code, word=""):
    """Return the printed status once it has this exit code and a word."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found, printed = status(folder)
        if found == code and word in printed:
            return printed
        time.sleep(0.1)
    pytest.fail(f"{found}: {printed}")


def test_without_a_state_there_is_nothing_to_report(tmp_path):
    assert status(tmp_path) == (6, "error: var/state: no state of a negotiator in this folder\n")


def test_the_version_and_the_rows_of_the_state_follow_the_health(tmp_path):
    with StateStore.open(tmp_path / "state") as store:
        store.request(AdminRequest(0, 5.0, "ann", (), AdminAction.RELOAD))
    words = ("--state", "state")
    code, printed = status(tmp_path, *words)
    first, place, rows = printed.splitlines()
    assert (code, first) == (1, "Negotiator  not running: no negotiator has written its status yet")
    assert (place, rows) == ("State       state, version 11", "Rows        1 in 12 tables")
    full = status(tmp_path, *words, "--full")[1]
    assert full.startswith(printed)
    assert "  admin_requests     1\n" in full
    shown = json.loads(status(tmp_path, *words, "--json")[1])
    state = shown["state"]
    assert (state["place"], state["version"], state["rows"]["admin_requests"]) == ("state", 11, 1)
    assert (shown["health"], state["leader"]) == ("not running", None)


def test_the_health_is_printed_also_if_the_state_cannot_be_read_here(tmp_path):
    """Monitoring may be another user, or on another file system."""
    with StateStore.open(tmp_path / "state"):
        pass
    (tmp_path / "state" / "state.sqlite").write_bytes(b"no database" * 100)
    for words in ((), ("--json",), ("--full",)):
        code, printed = status(tmp_path, "--state", "state", *words)
        assert (code, "warning: state" in printed, "not running" in printed) == (1, True, True)
        assert ('"state": null' in printed) == ("--json" in words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--every", "5"), "--every needs --settings"),
        (("--no-watch",), "--no-watch needs --settings"),
        (("--settings", "--full"), "--full and --now cannot be used with --settings"),
    ],
)
def test_an_option_without_effect_is_refused(tmp_path, words, message):
    code, printed = status(tmp_path, *words)
    assert (code, message in printed) == (2, True)


def test_a_variable_of_another_setting_does_not_matter(tmp_path, monkeypatch):
    monkeypatch.setenv("NEGOTIATOR_EVERY", "soon")
    assert status(tmp_path)[0] == 6
    code, printed = status(tmp_path, "--settings")
    assert (code, "Invalid value for '--every'" in printed) == (2, True)


def test_a_serving_negotiator_is_healthy_and_a_killed_one_does_not_run(site):
    with serving(site) as process:
        printed = until(site, 0, "Decided  ")
        assert "Negotiator  healthy" in printed
        assert f"Process     {process.pid} on " in printed
        assert "Decided     0 matches, 0 rejections" in printed
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        code, printed = status(site)
    assert (code, "Negotiator  not running: no negotiator uses this state" in printed) == (1, True)
    assert "Last cycle  " in printed  # of the one that was killed


def test_after_a_normal_end_none_runs(site):
    with serving(site):
        until(site, 0)
    assert status(site)[0] == 1


def test_a_schedd_that_does_not_answer_is_named_until_it_does(site):
    (site / "silent").touch()
    with serving(site):
        assert "Unanswered  schedd s1: warning: no answer within 20 s" in until(site, 4)
        (site / "silent").unlink()
        until(site, 0)


def test_a_cycle_that_did_not_take_place_is_reported_with_the_last_one_that_did(site):
    with serving(site):
        until(site, 0, "Last cycle  ")
        (site / "down").touch()
        printed = until(site, 4)
        assert "Negotiator  no cycle: the collector does not answer" in printed
        assert "Pool        0 slots, 0 jobs" in printed


def test_a_cycle_that_is_late_is_overdue(site):
    """The process still runs, but does not continue; --now is five minutes and a second after the next cycle."""
    with serving(site) as process:
        until(site, 0, "Last cycle  ")
        os.kill(process.pid, signal.SIGSTOP)
        try:
            values = json.loads(status(site, "--json")[1])["status"]
            since = values["cycle_since"]
            late = values["next_cycle"] if since is None else since + values["cycle_limit"]
            code, printed = status(site, "--now", str(late + 301))
        finally:
            os.kill(process.pid, signal.SIGCONT)
    assert (code, "Negotiator  overdue: " in printed) == (1, True)


def test_json_has_the_whole_status(site):
    with serving(site) as process:
        until(site, 0, "Last cycle  ")
        code, printed = status(site, "--json")
    shown = json.loads(printed)
    assert (code, shown["health"], shown["text"]) == (0, "healthy", "")
    assert shown["status"]["process"] == process.pid
    assert shown["status"]["last"]["ended"] >= shown["status"]["last"]["begun"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "host": 5}', "[" * 100_000]
)
def test_a_damaged_status_is_an_error_of_the_state(site, text):
    with serving(site):
        until(site, 0)
    (site / "var" / "state" / "status.json").write_text(text)
    code, printed = status(site)
    assert (code, "status.json: cannot read the status" in printed) == (6, True)


HANGING = """
import time
from pathlib import Path
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_filter_slots(request):
    while not Path("go-on").exists():
        time.sleep(0.02)
    return []
"""


def test_a_hook_that_goes_on_is_named_while_it_does_and_again_when_it_has_ended(site):
    (site / "bundle" / "plugins" / "hanging.py").write_text(HANGING)
    (site / "bundle" / "pool.yaml").write_text("plugins:\n  folders: [plugins]\n  report_seconds: 0.2\n")
    (site / "pool.ads").write_text(
        'MyType = "Machine"\nName = "slot1@a"\nState = "Unclaimed"\nRequirements = true\nCpus = 1\n\n'
        'MyType = "Job"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = "alice"\nUser = "alice@a"\nRequirements = true\n'
    )
    command = [sys.executable, "-m", "negotiator", "serve", "--bundle", "bundle", "--every", "0.2"]
    command += ["--set", "pool_driver=files", "--pool", "pool.ads", "--log-format", "json"]
    with subprocess.Popen(command, cwd=site, stderr=subprocess.PIPE, text=True) as process:
        try:
            lines = iter(process.stderr.readline, "")
            named = next(line for line in map(json.loads, lines) if line["event"] == "plugin call goes on")
            assert named["call"] == "negotiator_filter_slots of plugin hanging"
            assert named["about"] == "job 1.0 of alice@a"
            assert named["seconds"] >= 0.2
            code, printed = status(site)
            assert code == 7
            assert "plugin call goes on: negotiator_filter_slots of plugin hanging has run for" in printed
            assert "(job 1.0 of alice@a)" in printed
            (site / "go-on").touch()
            ended = next(line for line in map(json.loads, lines) if line["event"].startswith("plugin call"))
            assert (ended["event"], ended["call"]) == ("plugin call ended", named["call"])
            deadline = time.monotonic() + PATIENCE
            while status(site)[0] != 0 and time.monotonic() < deadline:
                time.sleep(0.1)
            assert status(site)[0] == 0
        finally:
            (site / "go-on").touch()
            process.terminate()
            process.communicate()


def test_run_names_a_hook_that_goes_on_on_standard_error(site):
    (site / "bundle" / "plugins" / "hanging.py").write_text(HANGING)
    (site / "bundle" / "pool.yaml").write_text("plugins:\n  folders: [plugins]\n  report_seconds: 0.2\n")
    (site / "pool.ads").write_text(
        'MyType = "Machine"\nName = "slot1@a"\nState = "Unclaimed"\nRequirements = true\nCpus = 1\n\n'
        'MyType = "Job"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = "alice"\nUser = "alice@a"\nRequirements = true\n'
    )
    command = [sys.executable, "-m", "negotiator", "run", "--bundle", "bundle", "--no-audit", "pool.ads"]
    with subprocess.Popen(
        command, cwd=site, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        line = next(line for line in iter(process.stderr.readline, "") if "hanging has run" in line)
        assert line.startswith("warning: negotiator_filter_slots of plugin hanging has run for ")
        assert "(job 1.0 of alice@a), and goes on" in line
        (site / "go-on").touch()
        _, rest = process.communicate(timeout=PATIENCE)
    assert "negotiator_filter_slots of plugin hanging ended after" in rest
    assert process.returncode == 0


def test_a_rejected_configuration_of_the_pool_and_what_differs_from_it_are_shown(site):
    """The old one stays in force; what a command loads with the state has it, too."""
    (site / "bundle" / "knobs.conf").write_text("# Configuration from machine: a\nNEGOTIATOR_INTERVAL = 50\n")
    differs = "Differs     knobs.conf:2:1: warning: NEGOTIATOR_INTERVAL is 50 here, and {} in the pool's configuration"
    with serving(site, every=3600) as process:
        until(site, 0, differs.format(60))
        for value, shown in (
            ("70", differs.format(70)),
            ("soon", "Rejected    "),
            ("80", differs.format(80)),
        ):
            (site / "interval").write_text(value)
            process.send_signal(signal.SIGHUP)
            printed = until(site, 0, shown)
            assert ("Rejected" in printed) == (value == "soon")
            if value == "soon":
                assert "UTC: /etc/condor_config:5:23: error: NEGOTIATOR_INTERVAL" in printed
                assert differs.format(70) in printed
    stored = (site / "var" / "state" / "condor_config.pool").read_text()
    assert "# /etc/condor_config:5\nNEGOTIATOR_INTERVAL = 80\n" in stored
