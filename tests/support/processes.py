"""Long-running programs: tests wait for printed lines, never for a time."""

import os
import queue
import re
import subprocess
import sys
import threading

LIMIT = 120.0
"""Seconds after which waiting for a line fails."""
LINES = 2_000
"""Other lines after which waiting for a line fails."""


class LongProgram:
    """A running program; ``lines`` are the lines of both outputs that were read."""

    def __init__(self, command, cwd, **environment):
        self.lines, self._lines = [], queue.SimpleQueue()
        self.process = subprocess.Popen(  # noqa: S603 - programs of tests
            [*map(str, command)],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | {"COLUMNS": "200", "PYTHONUNBUFFERED": "1"} | environment,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def wait_for(self, pattern):
        """Read lines until one matches; return the match."""
        for _ in range(LINES):
            try:
                line = self._lines.get(timeout=LIMIT)
            except queue.Empty:
                break
            if line is None:
                break
            self.lines.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError(f"{pattern!r} was not printed:\n" + "\n".join(self.lines[-60:]))

    def printed(self):
        """Return all lines so far; the program may print more."""
        while not self._lines.empty():
            self.lines.append(self._lines.get() or "")
        return self.lines

    def signal(self, number):
        """Send a signal to the process."""
        self.process.send_signal(number)

    def end(self):
        """Read to the end; return the exit code."""
        while (line := self._lines.get(timeout=LIMIT)) is not None:
            self.lines.append(line)
        return self.process.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()


class LongCommand(LongProgram):
    """A running ``negotiator`` command."""

    def __init__(self, *arguments, cwd):
        super().__init__([sys.executable, "-m", "negotiator", *arguments], cwd)
