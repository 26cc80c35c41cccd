"""The beginning of the program, before its modules are imported."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_while_modules_are_imported_ends_the_program_without_a_traceback(tmp_path, module):
    (tmp_path / f"{module}.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    words = [sys.executable, "-m", "negotiator", "run", "pool"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_an_interrupt_that_the_parent_process_ignores_is_ignored(tmp_path):
    """A shell starts commands in the background so."""
    (tmp_path / "click.py").write_text(
        "import signal\nsignal.raise_signal(signal.SIGINT)\nraise SystemExit('went on')\n"
    )
    code = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nos.execv(sys.executable, [sys.executable, '-m', 'negotiator'])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == "went on\n"
