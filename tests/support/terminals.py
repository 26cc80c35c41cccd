"""Commands on a terminal of some height and width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def on_terminal(*words, cwd, lines=24, columns=80, stream="stdout"):
    """Return the lines that ``negotiator`` prints to a terminal as one of its outputs, without colours; the other one goes elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    variables = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in variables}
    command = [sys.executable, "-m", "negotiator", *map(str, words)]
    process = subprocess.Popen(  # noqa: S603 - our own
        command,
        cwd=cwd,
        stdin=theirs,
        stdout=theirs if stream == "stdout" else subprocess.DEVNULL,
        stderr=theirs if stream == "stderr" else subprocess.DEVNULL,
        env=environment,
    )
    os.close(theirs)
    try:
        printed = b"".join(_parts(ours))
    finally:
        os.close(ours)
        process.wait()
    return _ESCAPES.sub("", printed.decode()).replace("\r\n", "\n").rstrip("\n").split("\n")


def rows_of(printed, columns=80):
    """Return the number of lines of the terminal that printed lines take."""
    return sum(max(1, -(-len(line) // columns)) for line in printed)


def _parts(descriptor):
    while True:
        try:
            part = os.read(descriptor, 65_536)
        except OSError:  # Linux: the last process closed the terminal
            return
        if not part:
            return
        yield part
