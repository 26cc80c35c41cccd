"""A command that goes on: what it prints is waited for line by line, never for a time."""

import os
import queue
import re
import subprocess
import sys
import threading

LIMIT = 120.0
"""Seconds after which a line that did not come is taken for one that never comes."""
LINES = 2_000
"""So many other lines, and it never comes either."""


class Long:
    """A ``negotiator`` command that runs; ``said`` are its lines so far, of both outputs."""

    def __init__(self, *arguments, cwd):
        self.said, self._lines = [], queue.SimpleQueue()
        self.process = subprocess.Popen(  # noqa: S603 - tests run the program
            [sys.executable, "-m", "negotiator", *map(str, arguments)],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | {"COLUMNS": "200", "PYTHONUNBUFFERED": "1"},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def wait_for(self, pattern):
        """Read on until a line matches, and give the match."""
        for _ in range(LINES):
            try:
                line = self._lines.get(timeout=LIMIT)
            except queue.Empty:
                break
            if line is None:
                break
            self.said.append(line)
            found = re.search(pattern, line)
            if found:
                return found
        raise AssertionError(f"{pattern!r} was not said:\n" + "\n".join(self.said[-60:]))

    def signal(self, number):
        """Send it a signal."""
        self.process.send_signal(number)

    def end(self):
        """Read to the end, and give the exit code."""
        while (line := self._lines.get(timeout=LIMIT)) is not None:
            self.said.append(line)
        return self.process.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()
