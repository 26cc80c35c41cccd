"""A plugin that hangs, interrupts or writes to descriptor 1 harms neither the process nor what it prints."""

import json
import os
import signal
import subprocess
import sys

import pytest

import queueing
from pools import write_bundle
from processes import LongCommand

JOB = 'MyType = "Job"\nClusterId = 1\nProcId = 0\nJobStatus = 1\nOwner = "tester"\nUser = "tester@d"\nRequirements = true\n\n'
SLOT = (
    'MyType = "Machine"\nName = "s1@h"\nMachine = "h"\nState = "Unclaimed"\nCpus = 1\nRequirements = true\n\n'
)

LOUD = """
import os, subprocess
from negotiator.plugin import hookimpl
os.write(1, b"imported\\n")
@hookimpl
def negotiator_filter_slots():
    os.write(1, b"from the hook\\n")
    subprocess.run(["echo", "from a process"])
    return []
"""

HANGING = """
import time
from negotiator.plugin import hookimpl
@hookimpl
def negotiator_filter_slots():
    print("hanging", flush=True)
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""

INTERRUPTING = """
from negotiator.plugin import hookimpl
@hookimpl
def negotiator_filter_slots():
    raise KeyboardInterrupt
"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "ads").write_text(JOB + SLOT)
    return tmp_path


def arguments(site, plugin, *more):
    write_bundle(site / "bundle", plugins={"bad": plugin})
    return ["run", "pool", "--bundle", "bundle", "--audit-log", "log", *more]


def run(site, plugin, *more):
    command = [sys.executable, "-m", "negotiator", *arguments(site, plugin, *more)]
    return subprocess.run(command, cwd=site, capture_output=True, text=True, check=False)


def test_what_is_written_to_descriptor_1_goes_to_standard_error(site):
    """By a plugin, and by processes that it starts; the JSON stays readable."""
    done = run(site, LOUD, "--json")
    assert json.loads(done.stdout)["match"]
    assert done.stdout.count("\n") == 1
    for text in ("imported", "from the hook", "from a process"):
        assert text in done.stderr


def test_with_closed_standard_output_no_file_gets_its_descriptor(site):
    """A plugin would write into the audit log."""
    command = [sys.executable, "-m", "negotiator", *arguments(site, LOUD)]
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" >&-', "sh", *command], cwd=site, stderr=subprocess.PIPE, check=False
    )
    assert b"from the hook" in done.stderr
    assert [each["kind"] for each in queueing.records(site / "log")][-1] == "outcome"


def test_a_plugin_that_raises_keyboard_interrupt_is_a_failed_plugin(site):
    done = run(site, INTERRUPTING)
    assert "interrupted" not in done.stderr.splitlines()
    (denial,) = queueing.records(site / "log", "denial")
    assert "KeyboardInterrupt" in json.dumps(denial)
    assert done.returncode == 7


def test_a_plugin_that_fails_and_decides_nothing_leaves_the_exit_code(site):
    observer = INTERRUPTING.replace("filter_slots", "cycle_ended")
    done = run(site, observer)
    assert "KeyboardInterrupt" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_process_whose_plugin_hangs(site, number):
    """After a while: a call that returns lets the cycle end."""
    with LongCommand(*arguments(site, HANGING, "--every", "1"), cwd=site) as command:
        command.wait_for("hanging")
        command.signal(number)
        command.wait_for("negotiator_filter_slots of plugin bad did not return within 10 s")
        assert command.end() == -number
    assert not os.path.exists(site / "log" / "audit-000002.jsonl")  # noqa: PTH110
