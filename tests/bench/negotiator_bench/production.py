"""Cycles of ``negotiator run`` over files, by station: reading, and the rest with its audit log and state.

Run as a module this is the process that is measured: it runs cycles from the same state, and prints their seconds of
the processor as JSON. Its argument is what to run, as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import resource
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

_PATIENCE: Final = 3600


@attrs.frozen
class OurCycle:
    """A cycle of ``negotiator run``: seconds of the processor, and the number of matches."""

    read: float
    cycle: float  # from the ads in memory to the outcome on disk
    matches: int
    peak: float  # GB of memory that the process had at most until then

    @property
    def whole(self) -> float:
        """Processor seconds with reading."""
        return self.read + self.cycle


@attrs.frozen
class Production:
    """What to run: the pool's files, the time of the cycles in seconds since the epoch, and their number.

    ``bundle`` is a folder, None for the default bundle.
    """

    paths: tuple[str, ...]
    now: float
    cycles: int = 2
    bundle: str | None = None


def measure_cycles(production: Production) -> tuple[OurCycle, ...]:
    """Run cycles of a new process.

    :raises ProcessFailedError: the process failed.
    """
    command = [sys.executable, "-m", "negotiator_bench.production", json.dumps(attrs.asdict(production))]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    try:
        done = subprocess.run(command, env=env, capture_output=True, check=True, timeout=_PATIENCE)  # noqa: S603 - our own module
    except subprocess.CalledProcessError as error:
        raise ProcessFailedError(f"our cycle failed: {error.stderr.decode()[-500:]}") from error
    except subprocess.TimeoutExpired as error:
        raise ProcessFailedError(f"our cycle failed: {error}") from error
    return tuple(OurCycle(**values) for values in json.loads(done.stdout))


def _measure_here(production: Production) -> OurCycle:
    """Run one cycle with a new state and a new audit log."""
    bundle = None if production.bundle is None else Path(production.bundle)
    with tempfile.TemporaryDirectory() as name:
        targets = CommandTargets(
            bundle=bundle,
            state=Path(name, "state"),
            audit_log=Path(name, "audit"),
            pool=tuple(map(Path, production.paths)),
            now=production.now,
        )
        with open_runner(targets) as runner, rare_collections():
            runner.runtime.show = lambda *_: True
            read = runner.runtime.pool = _TimedPool(runner.runtime.pool)
            gc.collect()
            start = clock()
            report = runner.runtime.next_cycle()
            seconds = clock() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9  # getrusage(2): in KiB on Linux
    return OurCycle(read.seconds, seconds - read.seconds, len(report.result.matches), peak)


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
    to_run = Production(**json.loads(sys.argv[1]))
    measured = [_measure_here(to_run) for _ in range(to_run.cycles)]
    sys.stdout.write(json.dumps([attrs.asdict(each) for each in measured]))
