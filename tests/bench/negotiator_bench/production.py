"""Cycles of ``negotiator run`` over files, by station: reading, and the rest with its audit log and state.

Run as a module this is the process that is measured: it runs two cycles from the same state, and prints their seconds of
the processor as JSON. Its arguments are the time of the cycle and the files.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.runner import open_runner
from negotiator.cycle.result import CycleResult
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.delivery import Delivery
from negotiator.pool import ClaimVault, Snapshot
from negotiator.runtime.collector import rare_collections
from negotiator.runtime.cycle_pool import CyclePool, Shown
from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.machine import clock

_CYCLES: Final = 2
_PATIENCE: Final = 1800


@attrs.frozen
class OurCycle:
    """A cycle of ``negotiator run``: seconds of the processor, and the number of matches."""

    read: float
    cycle: float  # from the ads in memory to the outcome on disk
    matches: int

    @property
    def whole(self) -> float:
        """Processor seconds with reading."""
        return self.read + self.cycle


def measure_cycles(paths: tuple[Path, ...], now: float) -> tuple[OurCycle, OurCycle]:
    """Run the first and the second cycle of a new process over these files.

    :raises ProcessFailedError: the process failed.
    """
    command = [sys.executable, "-m", "negotiator_bench.production", str(now), *map(str, paths)]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    try:
        done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=_PATIENCE)  # noqa: S603 - our own module
    except subprocess.CalledProcessError as error:
        raise ProcessFailedError(f"our cycle failed: {error.stderr.decode()[-500:]}") from error
    except subprocess.TimeoutExpired as error:
        raise ProcessFailedError(f"our cycle failed: {error}") from error
    first, second = (OurCycle(**values) for values in json.loads(done.stdout))
    return first, second


def _measure_here(now: float, paths: tuple[Path, ...]) -> OurCycle:
    """Run one cycle with a new state and a new audit log."""
    with tempfile.TemporaryDirectory() as name:
        targets = CommandTargets(
            state=Path(name, "state"), audit_log=Path(name, "audit"), pool=paths, now=now
        )
        with open_runner(targets) as runner, rare_collections():
            runner.runtime.show = lambda *_: True
            read = runner.runtime.pool = _TimedPool(runner.runtime.pool)
            gc.collect()
            start = clock()
            report = runner.runtime.next_cycle()
            seconds = clock() - start
    return OurCycle(read.seconds, seconds - read.seconds, len(report.result.matches))


@attrs.define(eq=False)
class _TimedPool(CyclePool):
    """Adds up the seconds of reading a pool."""

    pool: CyclePool
    seconds: float = 0.0

    def read(self) -> tuple[Snapshot, ClaimVault]:
        start = clock()
        found = self.pool.read()
        self.seconds += clock() - start
        return found

    def settle(self, result: CycleResult, vault: ClaimVault, shown: Shown) -> Sequence[Delivery]:
        return self.pool.settle(result, vault, shown)


if __name__ == "__main__":
    measured = [_measure_here(float(sys.argv[1]), tuple(map(Path, sys.argv[2:]))) for _ in range(_CYCLES)]
    sys.stdout.write(json.dumps([attrs.asdict(each) for each in measured]))
