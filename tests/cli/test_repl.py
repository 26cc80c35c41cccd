"""``negotiator expr repl``: lines from a pipe, and a session on a real terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.classad import Side
from negotiator.cli import main
from negotiator.cli.lines import completions, history_file
from negotiator.cli.session import COMMANDS, Session

MACHINES = """\
Name = "slot1@a"
Memory = 1024
MemoryUsage = 7
Start = TARGET.RequestMemory < 600
Peer = ClaimId == "secret"

Name = "slot1@b"
Memory = 256
"""
JOBS = "ClusterId = 7\nRequestMemory = 512\n\nClusterId = 7\nProcId = 1\nRequestMemory = 999\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a working folder with a file of machines and one of jobs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("machines.ads").write_text(MACHINES)
    Path("jobs.ads").write_text(JOBS)
    return tmp_path


@pytest.fixture
def piped(folder):  # noqa: ARG001
    """Return a function that runs the command with lines on standard input."""

    def run(*lines, arguments=("--my", "machines.ads", "--target", "jobs.ads")):
        return CliRunner().invoke(main, ["expr", "repl", *arguments], input="\n".join(lines))

    return run


def test_with_a_pipe_only_values_are_printed(piped):
    """No prompt, no greeting, no summary of loaded ads; blank lines and comments are ignored."""
    done = piped(
        "MY.Memory", "", "# of the job", "RequestMemory * 2", "// nowhere", "nosuch", "1/0", '"a\\nb"'
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["1024", "1024", "undefined", "error", '"a\\nb"']


def test_ads_are_optional(piped):
    """Without ads MY is an empty ad, and there is no TARGET."""
    done = piped("1 + 1", ":ads", arguments=())
    assert done.stdout.splitlines() == ["2", "MY is an empty ad, 0 attributes", "TARGET is not set"]


def test_an_invalid_line_is_reported_with_its_number_and_the_others_are_read(piped):
    """The exit code shows that there was one."""
    done = piped("1 +", "2", ":bogus", ":show nosuch", ":set A = 5 +", "Memory = 5", ":trace", "3")
    assert done.exit_code == 1
    assert done.stdout.splitlines() == ["2", "3"]
    assert (
        done.stderr
        == """\
<stdin>:1:4: error: expected an operand, found end of text
  1 +
     ^
<stdin>:3: error: unknown command :bogus; :help lists the commands
<stdin>:4: error: neither ad has an attribute nosuch
<stdin>:5:13: error: expected an operand, found end of text
  :set A = 5 +
              ^
<stdin>:6:8: error: expected an operator or the end of the text, found '='
  Memory = 5
         ^
  hint: use == to compare; in the repl, :set gives an ad an attribute
<stdin>:7: error: usage: :trace EXPR
"""
    )


def test_attributes_are_set_and_removed(piped):
    """Also expressions; names ignore case; a removed attribute is missing, not undefined."""
    done = piped(
        ":set Twice = 2 * TARGET.RequestMemory",
        "Twice",
        ":set TARGET.requestmemory = 4",
        "Twice",
        ":show MY.Twice",
        ":show RequestMemory",
        ":unset RequestMemory",
        ":unset TARGET.REQUESTMEMORY",
        "Twice",
        ":set 'odd name' = 1",
        "'odd name' + 1",
        ":show",
    )
    assert done.stdout.splitlines()[:8] == [
        "1024",
        "8",
        "MY.Twice = 2 * TARGET.RequestMemory",
        "TARGET.RequestMemory = 4",
        "undefined",
        "2",
        "MY is slot1@a (machines.ads, ad 1 of 2), 7 attributes:",
        '  Name = "slot1@a"',
    ]
    assert done.stderr == "<stdin>:7: error: MY has no attribute RequestMemory\n"


def test_a_target_can_be_created_without_ads(piped):
    """Like MY."""
    done = piped(":set TARGET.A = TARGET.B", ":set B = 3", "TARGET.A", ":show TARGET", arguments=())
    assert done.stdout == "3\nTARGET is an ad made here, 1 attribute:\n  A = TARGET.B\n"


@pytest.mark.parametrize(("name", "expected"), [("", "7.0"), ("7.1", "7.1"), ("7.9", "7.0")])
def test_an_ad_is_selected_by_its_name_or_the_id_of_the_job(piped, name, expected):
    """The first one without a name; an unknown name changes nothing."""
    done = piped(f":target jobs.ads {name}", ":ads")
    assert re.search(rf"^TARGET is {expected} \(jobs.ads, ad . of 2\)", done.stdout, re.MULTILINE)
    assert ("jobs.ads: no ad with the name 7.9; it has 7.0, 7.1" in done.stderr) is (name == "7.9")


def test_names_of_files_may_have_blanks_and_names_of_ads_any_case(piped):
    """With quotes as in a shell."""
    Path("two words.ads").write_text(MACHINES)
    done = piped(":my 'two words.ads' SLOT1@B", "Memory", ":my 'two", ":my a b c", ":my nosuch.ads", ":my -")
    assert done.stdout == "256\n"
    assert done.stderr.splitlines() == [
        "<stdin>:3: error: No closing quotation: close the quotes of the file name",
        "<stdin>:4: error: usage: :my FILE [NAME]",
        "error: nosuch.ads does not exist: name a folder or file of ads, or - to read them from standard input",
        "<stdin>:5: error: MY is unchanged",
        "<stdin>:6: error: must be a file: standard input has the expressions",
    ]


def test_a_command_prints_a_trace(piped):
    """Commands may be abbreviated as long as they are unique."""
    done = piped(":tr Start", ":q", "1")
    assert done.stdout.splitlines() == [
        "Start => true  (in MY)",
        "  TARGET.RequestMemory < 600 => true",
        "    TARGET.RequestMemory => 512  (in TARGET)",
    ]
    assert "unknown command :s;" in piped(":s").stderr


def test_a_string_beside_a_claim_id_is_not_shown(piped):
    """It may be a claim id."""
    assert piped(":show Peer").stdout == 'MY.Peer = ClaimId == "..."\n'


def test_bytes_that_are_not_utf8_are_preserved(folder):  # noqa: ARG001
    """Strings are bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", "expr", "repl"],
        input=b'size("\xff\xfe")\n',
        capture_output=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"2\n", b"")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--my", "nosuch.ads"], 4, "nosuch.ads does not exist"),
        (["--my", "-"], 2, "must be a file: standard input has the expressions"),
    ],
)
def test_unreadable_ads_end_the_session_at_once(piped, arguments, code, message):
    """Values for other ads than the intended ones would mislead."""
    done = piped("1", arguments=arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


def test_help_names_every_command(piped):
    """With its arguments."""
    text = piped(":help").stdout
    assert all(f"  {command.usage}" in text for command in COMMANDS.values())
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Memory > mem", ["Memory", "MemoryUsage", "member("]),
        ("MY.mem", ["MY.Memory", "MY.MemoryUsage"]),
        ("1+target.Req", ["target.RequestMemory"]),
        ("other", []),
        ("versionG", ["versionGE(", "versionGT("]),
        ("T", None),
        (":se", ["set"]),
        (":my mach", ["machines.ads"]),
        (":my ./sub/in", ["inner.ads"]),
        (":target su", ["sub/"]),
        (":set A = MY.MemoryU", ["MY.MemoryUsage"]),
        ("nosuch.A", []),
    ],
)
def test_completions_of_tab(folder, line, expected):
    """Attributes of both ads or of the named one, functions, commands and files."""
    (folder / "sub").mkdir()
    (folder / "sub" / "inner.ads").touch()
    session = Session()
    session.use(Side.MY, Path("machines.ads"))
    session.use(Side.TARGET, Path("jobs.ads"))
    begin = max(line.rfind(mark) for mark in " +:/") + 1
    found = completions(session, line, begin, len(line))
    if expected is None:
        assert "TARGET." in found
    else:
        assert found == expected


def test_the_history_is_in_the_state_folder_of_the_user(monkeypatch):
    """A relative path does not count, as in the XDG Base Directory Specification."""
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert history_file() == Path("/var/state/negotiator/repl_history")
    monkeypatch.setenv("HOME", "/home/sue")
    for value in ("", "state"):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert history_file() == Path("/home/sue/.local/state/negotiator/repl_history")


# -- on a terminal ---------------------------------------------------------------------------------------------------

# What takes the terminal as its own, so that Ctrl-C and Ctrl-D mean there what they mean to people.
_ON_TERMINAL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell ignores it for commands in the background
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "negotiator", *sys.argv[1:]])
"""
_PATIENCE = 60  # seconds, after which something is broken
_NEXT_KEY = 5  # seconds until Ctrl-C is pressed again


class TerminalSession:
    """The real command on a terminal of 80 columns; tests press keys and read the screen."""

    def __init__(self, *arguments):
        self.terminal, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
            env={**os.environ, "TERM": "dumb", "NO_COLOR": "1", "INPUTRC": os.devnull},
        )
        os.close(other)

    def hears(self, seconds):
        """True if anything is printed within so many seconds."""
        return bool(select.select([self.terminal], [], [], seconds)[0])

    def until(self, ending="> "):
        """Return the output up to the next prompt."""
        seen = ""
        while not seen.endswith(ending):
            assert self.hears(_PATIENCE), seen
            try:
                seen += os.read(self.terminal, 4096).decode()
            except OSError:  # the other end was closed
                break
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", seen)

    def type(self, keys, ending="> "):
        """Press keys, and return the output."""
        os.write(self.terminal, keys.encode())
        return self.until(ending)

    def interrupt(self, *, evaluating=False):
        """Press Ctrl-C once the command waits for keys, or evaluates a line; give what is printed up to the next prompt.

        While a line is read the terminal hands over single keys, during an evaluation whole lines. A signal that comes
        before the wait for keys would be noticed at the next key only.
        """
        self._wait(lambda: self._takes_lines() == evaluating and (evaluating or self._sleeps()))
        for _ in range(_PATIENCE // _NEXT_KEY):
            os.write(self.terminal, b"\x03")
            if self.hears(_NEXT_KEY):  # otherwise it came before the wait for keys: press it again
                break
        return self.until("\n> ")

    def _wait(self, is_so):
        end = time.monotonic() + _PATIENCE
        while not is_so():
            assert time.monotonic() < end
            time.sleep(0.01)

    def _takes_lines(self):
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ICANON)

    def _sleeps(self):
        """True if the process waits, by its state in /proc (proc(5))."""
        return Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"

    def close(self):
        """End the command if it is still running, and return its exit code."""
        os.close(self.terminal)
        return self.process.wait(_PATIENCE)


@pytest.fixture
def start_session(folder):  # noqa: ARG001
    """Return a function that starts sessions, which end with the test."""
    begun = []

    def begin(*arguments):
        begun.append(TerminalSession("expr", "repl", *arguments))
        return begun[-1]

    yield begin
    for conversation in begun:
        if conversation.process.poll() is None:
            conversation.process.kill()
            conversation.close()


def test_a_session(start_session):
    """Values, errors with a caret, Tab, Ctrl-C for a new prompt, and Ctrl-D to leave."""
    with_ads = start_session("--my", "machines.ads")
    assert "MY is slot1@a (machines.ads, ad 1 of 2), 5 attributes" in with_ads.until()
    assert with_ads.type("MY.Memory / 2\n").splitlines()[-2] == "512"
    assert "  1 +\n     ^\n" in with_ads.type("1 +\n")
    assert with_ads.type("MY.MemoryU\t + 1\n").splitlines()[-2] == "8"
    with_ads.type("1 + 1", "1 + 1")
    assert with_ads.interrupt().endswith("\n> ")
    assert with_ads.type("2 + 2\n").splitlines()[-2] == "4"
    assert "TARGET is 7.0" in with_ads.type(":target jobs.ads\n")
    assert "TARGET.RequestMemory => 512  (in TARGET)" in with_ads.type(":trace Start\n")
    with_ads.type("\x04")
    assert with_ads.close() == 0


def test_the_history_of_the_last_session_can_be_recalled(start_session):
    """It is stored between sessions, readable by its owner only."""
    first = start_session()
    first.until()
    first.type("20 + 3\n")
    first.type(":quit\n")
    assert first.close() == 0
    again = start_session()
    again.until()
    again.type("\x10\x10\n", "\n23\r\n> ")
    assert Path("state/negotiator/repl_history").stat().st_mode & 0o077 == 0


def test_a_history_that_cannot_be_stored_is_no_error(start_session, folder):
    """The session works without it."""
    (folder / "state").write_text("no folder")
    conversation = start_session()
    conversation.until()
    assert "error" not in conversation.type(":quit\n")
    assert conversation.close() == 0


def test_an_evaluation_that_takes_long_can_be_interrupted(start_session):
    """The session continues."""
    conversation = start_session()
    conversation.until()
    for number in range(40):
        conversation.type(f":set A{number} = A{number + 1} + A{number + 1}\n")
    conversation.type(":set A40 = random()\n")  # another value each time: all of them are evaluated
    conversation.type("A0\n", "A0\r\n")
    assert conversation.interrupt(evaluating=True).endswith("\n> ")
    assert conversation.type("1 + 1\n").splitlines()[-2] == "2"
