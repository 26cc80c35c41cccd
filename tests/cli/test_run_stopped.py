"""``negotiator run`` in a long cycle: its progress on a terminal, and its end by signals.

A plugin waits in the second turn until a test opens the gate, a named pipe.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys

import pytest

import queueing
from negotiator.audit.verify import verify
from pools import write_bundle
from processes import LongCommand

PLUGIN = """
import os, pathlib
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_filter_slots(request):
    if request.first_job == "1.2" and pathlib.Path("gate").exists():
        os.write(2, b"second turn\\n")
        pathlib.Path("gate").read_text()
    return []
"""
JOB = 'MyType = "Job"\nClusterId = 1\nProcId = {0}\nJobStatus = 1\nOwner = "ann"\nUser = "ann@d"\n'
JOB += 'GlobalJobId = "h#1.{0}#1"\nRequirements = TARGET.Cpus > -{0}\n\n'
SLOT = 'MyType = "Machine"\nName = "s{0}@h"\nMachine = "h"\nState = "Unclaimed"\nCpus = 1\nRequirements = true\n\n'
ARGUMENTS = ("run", "pool.ads", "--bundle", "bundle", "--state", "state", "--audit-log", "log")
PATIENCE = 60.0
LONGEST = 100_000  # characters on the screen, after which something is broken


@pytest.fixture
def site(tmp_path):
    write_bundle(tmp_path / "bundle", plugins={"slow": PLUGIN})
    ads = [JOB.format(number) for number in range(1, 6)] + [SLOT.format(number) for number in range(9)]
    (tmp_path / "pool.ads").write_text("".join(ads))
    os.mkfifo(tmp_path / "gate")
    return tmp_path


def open_gate(site):
    (site / "gate").write_text("")


def records(site, *kinds):
    return queueing.records(site / "log", *kinds)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("more", [(), ("--every", "3600")])
def test_a_signal_ends_the_cycle_at_its_next_turn_with_the_matches_it_has(site, number, more):
    """They are recorded and printed, and the rest of the jobs have the reason; the next run goes on with the rest."""
    with LongCommand(*ARGUMENTS, *more, cwd=site) as run:
        run.wait_for("second turn")
        run.signal(number)
        open_gate(site)
        assert run.end() == 0
    assert [each["job"] for each in records(site, "match")] == ["1.1", "1.2"]
    assert {each["reasons"][-1]["code"] for each in records(site, "denial")} == {"cycle_stopped"}
    (stop,) = records(site, "time_stop")
    assert (stop["limit"], stop["turn"]) == ("administrator", 2)
    assert [each["kind"] for each in records(site)][-2:] == ["cycle", "outcome"]
    assert verify(site / "log").fault is None
    assert "an administrator ended the cycle" in "\n".join(run.lines)

    (site / "gate").unlink()
    with LongCommand(*ARGUMENTS, cwd=site) as run:
        assert run.end() == 0
    assert [each["job"] for each in records(site, "match")] == ["1.1", "1.2", "1.3", "1.4", "1.5"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_second_signal_ends_the_program_with_nothing_recorded(site, number, code):
    with LongCommand(*ARGUMENTS, cwd=site) as run:
        run.wait_for("second turn")
        run.signal(number)
        run.wait_for(f"^{number.name}: the cycle ends before its next turn; a second signal ends the program")
        run.signal(number)
        assert run.end() == code
    assert records(site, "match", "cycle", "outcome") == []

    (site / "gate").unlink()
    with LongCommand(*ARGUMENTS, cwd=site) as run:
        assert run.end() == 0
    assert len(records(site, "match")) == 5
    assert verify(site / "log").fault is None


class Terminal:
    """The command with a terminal as standard error."""

    def __init__(self, site):
        self.end, other = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "negotiator", *ARGUMENTS],
            cwd=site,
            stdout=subprocess.PIPE,
            stderr=other,
            text=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
        )
        os.close(other)
        self.seen = ""

    def wait_for(self, pattern):
        while not re.search(pattern, self.seen):
            assert self.read(), self.seen
            assert len(self.seen) < LONGEST, self.seen[-1000:]

    def read(self):
        """Read what is on the screen; False at the end."""
        assert select.select([self.end], [], [], PATIENCE)[0], self.seen
        try:
            found = os.read(self.end, 4096).decode()
        except OSError:  # the other end was closed
            return False
        self.seen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", found)
        return bool(found)


def test_on_a_terminal_a_long_cycle_shows_its_progress(site):
    """Station, requests and matches, on standard error; the line is gone at the end."""
    terminal = Terminal(site)
    terminal.wait_for(
        r"match: 1 of 5 requests, 1 match, \d+ s \(Ctrl-C ends the cycle and keeps the matches\)"
    )
    open_gate(site)
    output, _ = terminal.process.communicate(timeout=PATIENCE)
    while terminal.read():
        pass
    os.close(terminal.end)
    assert terminal.process.returncode == 0
    assert "requests, " not in output
    assert "5 matched" in output


def test_without_a_terminal_there_is_no_progress(site):
    with LongCommand(*ARGUMENTS, cwd=site) as run:
        run.wait_for("second turn")
        open_gate(site)
        assert run.end() == 0
    assert not any("requests, " in line for line in run.lines)
