"""Cycles on the engine of a Dask cluster, in a process of another host, which a test directs line by line.

``python remote_cycles.py ADDRESS`` runs a cycle for each line of standard input, which is the number of the turn at which it waits
for a further line, 0 for none, and prints a line of JSON for each: whether the bytes are those of one process, the turns whose
conditions workers found and those that they did not, the number of workers, and the notices.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import attrs
import pytest

SLOTS, CLASSES = 200, 400


@attrs.define
class RemoteCycles:
    """The process of a negotiator on a host."""

    process: subprocess.Popen

    def begin(self, hold=0):
        """Begin a cycle; if it is to be held at a turn, return when it waits there."""
        self._write(hold)
        if hold:
            assert self._read() == "held"

    def go_on(self):
        """Let a cycle go on that waits."""
        self._write("go")

    def end(self):
        """Return what a cycle found."""
        return self._read()

    def run(self):
        """Run a cycle, and return what it found."""
        self.begin()
        return self.end()

    def until(self, condition, most=20):
        """Run cycles until one fulfils a condition; return what it found."""
        for _ in range(most):
            found = self.run()
            assert found["same"]
            if condition(found):
                return found
        raise AssertionError(f"after {most} cycles: {found}")

    def _write(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def _read(self):
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        return json.loads(line)


class ThisHost:
    """This machine."""

    def command(self, *words):
        """Return a command as it runs on this host."""
        return [*words]


@contextmanager
def remote_cycles(host, address, **environment):
    """Start the process of a negotiator with the engine of a Dask cluster on a host, and end it."""
    with subprocess.Popen(  # noqa: S603 - this module
        host.command(sys.executable, __file__, address),
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield RemoteCycles(process)
        process.stdin.close()
        process.wait(60)


def _serve(address):
    from both_engines import plain, run, wait_for_workers  # noqa: PLC0415 - of the process that runs cycles
    from negotiator.audit.recorded_cycle import result_bytes  # noqa: PLC0415
    from negotiator.engines import dask_engine  # noqa: PLC0415
    from negotiator.engines.ahead import AheadConditions  # noqa: PLC0415

    patched, made = pytest.MonkeyPatch(), []
    wait_for_workers(patched)
    patched.setattr(
        dask_engine, "AheadConditions", lambda *args: made.append(AheadConditions(*args)) or made[-1]
    )
    pool = plain(slots=SLOTS, classes=CLASSES, jobs=1)
    expected = result_bytes(run(pool))
    engine = dask_engine.DaskEngine(address)
    engine.connect()
    for line in sys.stdin:
        hold, turns = int(line), [0]

        def watch(_progress, hold=hold, turns=turns):
            turns[0] += 1
            if turns[0] == hold:
                _print("held")
                sys.stdin.readline()

        made.clear()
        same = result_bytes(run(pool, engine, watch=watch)) == expected
        found = {"same": same, "notices": engine.take_notices(), "turns": turns[0]}
        for each in made:
            found |= {"used": each.used, "missed": each.missed, "workers": len(each.workers)}
        _print({"used": 0, "missed": 0, "workers": 0} | found)
    engine.close()


def _print(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
