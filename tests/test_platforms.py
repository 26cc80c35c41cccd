"""Without the modules and functions that Windows lacks, files are read and cycles are decided; the rest says what is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from negotiator import posix

ROOT = Path(__file__).parents[1]
POOL = ROOT / "examples" / "first-pool"
POLICIES = ROOT / "policies"


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the program as on Windows, in an empty folder."""
    script = ROOT / "tests" / "support" / "windows_like.py"
    environment = os.environ | {"USERNAME": "alice"}  # as Windows sets it

    def call(*words):
        command = [sys.executable, str(script), *map(str, words)]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, input="", capture_output=True, text=True, check=False
        )

    return call


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["--version"], "negotiator, version "),
        (["expr", "eval", "1 + 1"], "2\n"),
        (["expr", "lint", "MY.Owner == undefined"], "1 warning"),
        (["check", POLICIES / "limits"], ": ok (digest "),
        (["test", "--bundle", POLICIES / "limits"], "10 tests passed, 0 failed"),
        (["run", "--no-audit", POOL], "Cycle 1 over 33 slots, 9 idle jobs: 7 matched"),
        (["run", "--no-audit", "--every", "0.01", "--cycles", "2", POOL], "cycle number=2 "),
        (["why", "18.0", "--pool", POOL], "18.0"),
        (["whatif", "--pool", POOL, "--bundle", POLICIES / "default"], ""),
        (["diff", POLICIES / "default", POLICIES / "limits", "--pool", POOL], "tester@example.org"),
        (["place", "--user", "ann"], "placed in root.default"),
        (["access", "--user", "ann"], "everybody"),
        (["queues"], "root"),
        (["plugins"], "quotasets"),
        (["qconf", "-srqsl", "--bundle", POLICIES / "resource-quotas"], "ruleset1"),
        (["qquota", "-u", "*", "--bundle", POLICIES / "resource-quotas", "--pool", POOL], "per_host/share"),
        (["init", "site", "--from", "gridengine", "--example", "pool"], "site: ok\n"),
        (["init", "--plugin", "night-shift"], "Created negotiator-night-shift"),
    ],
    ids=lambda value: " ".join(map(str, value))[:30] if isinstance(value, list) else "",
)
def test_files_are_read_and_cycles_are_decided(run, words, printed):
    done = run(*words)
    assert "Traceback" not in done.stderr
    assert printed in done.stdout + done.stderr
    assert done.returncode == 0 or words[0] in {"expr", "whatif"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["run", "--audit-log", "audit", POOL],
            "cannot lock the audit log: locks of files are missing on this system",
        ),
        (["run", "--no-audit", "--state", "state", POOL], "locks of files are missing on this system"),
        (["status"], "no state of a negotiator in this folder"),
    ],
)
def test_what_needs_locks_of_files_says_so(run, words, message):
    """And a run without the audit log that it needs hands out nothing."""
    done = run(*words)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode != 0


def test_a_lock_of_a_system_without_locks_names_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with (tmp_path / "lock").open("w") as opened, pytest.raises(OSError, match="locks of files are missing"):
        posix.lock_file(opened.fileno())


def test_the_library_is_imported(tmp_path):
    script = (
        "import windows_like; windows_like.remove();"
        "import negotiator, negotiator.plugin, negotiator.testing;"
        "print(negotiator.testing.cycle('Cpus = 1', 'RequestCpus = 1').pairs)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests" / "support")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "slot0@host" in done.stdout
