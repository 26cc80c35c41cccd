"""``negotiator state``: the backup of a state, and its restoration."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import invoke
from negotiator.cli.commands.state import state
from negotiator.exit_codes import ExitCode
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore

POOL = Path(__file__).parents[2] / "examples" / "first-pool"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with StateStore.open(tmp_path / "state") as store:
        store.request(AdminRequest(0, 5.0, "ann", (), AdminAction.RELOAD))
    return tmp_path


def call(*words):
    return invoke(state, [*words, "--state", "state"])


def test_a_backup_is_restored_by_the_next_command(folder):
    done = call("backup", "copy.gz")
    assert (done.exit_code, done.output) == (0, "copy.gz: 1 row of state\n")
    shutil.rmtree(folder / "state")
    done = call("restore", "copy.gz")
    assert (done.exit_code, done.output.startswith("restored 1 row, as state was at 20")) == (0, True)
    with StateStore.read(folder / "state") as store:
        assert [each.by for each in store.waiting()] == ["ann"]


@pytest.mark.usefixtures("folder")
def test_a_state_that_is_not_empty_is_replaced_only_with_the_option():
    call("backup", "copy.gz")
    refused = call("restore", "copy.gz")
    assert (refused.exit_code, "with --replace" in refused.output) == (ExitCode.STATE, True)
    assert call("restore", "copy.gz", "--replace").exit_code == 0


def test_a_state_that_a_negotiator_uses_is_not_replaced(folder, monkeypatch):
    monkeypatch.setattr("negotiator.app.exclusive.LOCK_TIMEOUT", 0.0)
    call("backup", "copy.gz")
    with StateStore.open(folder / "state") as running:
        assert running.hold_lock()
        refused = call("restore", "copy.gz", "--replace")
    assert refused.exit_code == ExitCode.STATE
    assert "another negotiator uses this state" in refused.output


def test_a_backup_of_a_missing_state_or_to_a_missing_folder_is_an_error(folder):
    refused = call("backup", "missing/copy.gz")
    assert (refused.exit_code, "cannot write the backup: No such file" in refused.output) == (1, True)
    shutil.rmtree(folder / "state")
    refused = call("backup", "copy.gz")
    assert (refused.exit_code, "no state of a negotiator" in refused.output) == (ExitCode.STATE, True)
    assert list(folder.iterdir()) == []


def test_a_negotiator_refuses_an_older_copy_until_the_administrator_accepts_it(folder):
    """What was handed out since then may be handed out again: that is accepted with --recover, and recorded."""

    def negotiator(*words):
        command = [sys.executable, "-m", "negotiator", *words, "--state", "new"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)

    assert negotiator("run", str(POOL), "--cycles", "1").returncode == 0
    assert negotiator("state", "backup", "copy.gz").returncode == 0
    assert negotiator("run", str(POOL), "--cycles", "2").returncode == 0
    assert negotiator("state", "restore", "copy.gz", "--replace").returncode == 0
    refused = negotiator("run", str(POOL))
    assert refused.returncode == ExitCode.STATE
    assert "replaced by an older copy" in refused.stderr
    assert "--recover" in refused.stderr
    assert negotiator("run", str(POOL), "--recover").returncode == 0
