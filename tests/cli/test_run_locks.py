"""``negotiator run`` waits briefly for a command that holds the lock of its state or audit log, and for nothing else."""

import fcntl
import importlib
from contextlib import contextmanager

import pytest
from click.testing import CliRunner

import queueing
from negotiator.audit.log import AuditLog
from negotiator.cli import main
from negotiator.runtime.state import StateStore

EXCLUSIVE = importlib.import_module("negotiator.app.exclusive")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder with a bundle and a pool; the working directory."""
    queueing.write(tmp_path / "bundle")
    (tmp_path / "pool.ads").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run():
    return CliRunner().invoke(
        main, ["run", "--bundle", "bundle", "--state", "state", "--audit-log", "audit", "pool.ads"]
    )


@contextmanager
def held(what, site):
    """Hold the lock of the state, or of the audit log, as an ``admin`` command does; return the function that releases it."""
    if what == "state":
        holder = StateStore.open(site / "state")
        assert holder.hold_lock()
    else:
        holder = AuditLog.open(site / "audit", rotate_bytes=1 << 20)
    try:
        yield holder.close
    finally:
        holder.close()


@pytest.mark.parametrize("what", ["state", "audit"])
def test_run_begins_when_a_command_releases_the_lock(site, monkeypatch, what):
    waited = []
    with held(what, site) as let_go:

        def sleep(seconds):
            waited.append(seconds)
            if len(waited) == 3:
                let_go()

        monkeypatch.setattr(EXCLUSIVE.time, "sleep", sleep)
        assert run().exit_code == 0
    assert len(waited) == 3


@pytest.mark.parametrize(
    ("what", "code", "text"),
    [
        ("state", 6, "another negotiator uses this state"),
        ("audit", 3, "another process has this audit log"),
    ],
)
def test_run_does_not_wait_for_ever(site, monkeypatch, what, code, text):
    now = [0.0]
    monkeypatch.setattr(EXCLUSIVE.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(EXCLUSIVE.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    with held(what, site):
        done = run()
    assert (done.exit_code, text in done.output) == (code, True)
    assert 9 < now[0] < 11


def test_run_does_not_wait_for_permanent_errors(site, monkeypatch):
    monkeypatch.setattr(EXCLUSIVE.time, "sleep", lambda _: pytest.fail("it waited"))
    (site / "audit").write_text("")
    assert run().exit_code == 3


def test_while_run_waits_for_the_state_the_audit_log_is_unlocked(site, monkeypatch):
    """A command locks the state first and then the log, which must be unlocked."""
    seen = []

    def sleep(_):
        with (site / "audit" / "audit.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            seen.append(True)
        let_go()

    (site / "audit").mkdir()
    monkeypatch.setattr(EXCLUSIVE.time, "sleep", sleep)
    with held("state", site) as let_go:
        assert run().exit_code == 0
    assert seen == [True]
