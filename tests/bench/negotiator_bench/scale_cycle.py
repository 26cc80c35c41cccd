"""One whole cycle of a large pool in a process of its own, on an engine.

Run as a module this is that process: its argument is what to run, as JSON. It reads the pool from a file, runs the cycle as a
negotiator does, and prints its figures as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Final

import attrs

from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.conditions import ConditionSource
from negotiator.cycle.engine import Engine, MatchingTask
from negotiator.cycle.loop import run_cycle
from negotiator.engines.ahead import AheadConditions, Workers
from negotiator.engines.choice import engine_of
from negotiator.engines.finder import FoundAnswer
from negotiator.hooks.records import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator.runtime.collector import rare_collections
from negotiator_bench import ours
from negotiator_bench.errors import ProcessFailedError
from negotiator_bench.machine import clock
from negotiator_bench.process_tree import observed_memory

#: Jobs of each class.
JOBS: Final = 10
#: An engine of the measurement alone: a Dask cluster of so many processes of this machine.
LOCAL_CLUSTER: Final = "dask-local:"


@attrs.frozen
class CycleFigures:
    """The figures of one cycle.

    ``answers`` are the bytes that workers sent, None if the engine does not tell; ``memory`` is the most that the
    process had with its children, in bytes, beside the pool's file; None if the system does not tell.
    """

    seconds: float  # by the clock
    processor: float  # seconds of the process of the cycle
    workers: float  # processor seconds of its children
    matches: int
    requests: int
    answers: int | None = None
    memory: int | None = None


def measure_cycle(
    pool: Path, engine: str, patience: float, on: Callable[..., list[str]] = lambda *words: [*words]
) -> CycleFigures:
    """Run one cycle over a pool in a file (``Snapshot.encode``) in a new process.

    :param on: returns a command as it runs on another host.
    :param patience: the most seconds that it may take.
    :raises ProcessFailedError: the process failed, or took too long.
    """
    arguments = json.dumps({"pool": str(pool), "engine": engine})
    command = on(sys.executable, "-m", "negotiator_bench.scale_cycle", arguments)
    bench = Path(__file__).parents[1]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (bench, bench.parent / "support")))}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=errors)  # noqa: S603 - our own module
        with process, observed_memory(process.pid) as peak:
            try:
                answer, _ = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                process.kill()
                raise ProcessFailedError(
                    f"a cycle on engine {engine} took more than {patience:.0f} s"
                ) from None
        if process.returncode:
            errors.seek(0)
            last = errors.read()[-500:].decode(errors="replace")
            raise ProcessFailedError(f"a cycle on engine {engine} failed: {last}")
    return attrs.evolve(CycleFigures(**json.loads(answer)), memory=peak.bytes)


@attrs.define(eq=False)
class _CountedWorkers:
    """The workers of a cycle, and the bytes of their answers so far."""

    workers: Workers
    received: int = 0

    def __len__(self) -> int:
        return len(self.workers)

    def answers(self, until: int) -> Iterator[tuple[int, FoundAnswer]]:
        for place, answer in self.workers.answers(until):
            self.received += answer.nbytes
            yield place, answer


@attrs.define(eq=False)
class _ObservedEngine:
    """An engine that counts the bytes of answers; None before workers of it were used."""

    engine: Engine
    workers: _CountedWorkers | None = None

    @contextmanager
    def begin(self, task: MatchingTask) -> Iterator[ConditionSource | None]:
        with self.engine.begin(task) as source:
            if isinstance(source, AheadConditions):
                self.workers = source.workers = _CountedWorkers(source.workers)
            yield source

    def connect(self) -> None:
        self.engine.connect()

    def leave_out(self, reason: str) -> None:
        self.engine.leave_out(reason)

    def take_notices(self) -> Sequence[str]:
        return self.engine.take_notices()

    def close(self) -> None:
        self.engine.close()


def _run(pool: Path, engine_text: str) -> CycleFigures:
    snapshot, bundle = Snapshot.decode(pool.read_bytes()), load_bundle(default_bundle())
    ours.forget()
    with _engine_text(engine_text) as text, rare_collections():
        engine = _ObservedEngine(engine_of(text))
        engine.connect()
        gc.collect()
        start, wall = clock(), time.perf_counter()
        cycle = Cycle(1, ours.CYCLE.now, bundle.digest)
        result = run_cycle(snapshot, bundle, cycle, engine=engine)
        seconds, processor = time.perf_counter() - wall, clock() - start
        engine.close()
    return CycleFigures(
        seconds=seconds,
        processor=processor,
        workers=_children(),
        matches=len(result.matches),
        requests=result.counts.requests,
        answers=None if engine.workers is None else engine.workers.received,
    )


def _children() -> float:
    """Return the processor seconds of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _engine_text(text: str) -> AbstractContextManager[str]:
    """Return the engine's text, with the address of a Dask cluster that runs as long as the context lasts."""
    if not text.startswith(LOCAL_CLUSTER):
        return nullcontext(text)
    return _local_cluster(int(text.removeprefix(LOCAL_CLUSTER)))


@contextmanager
def _local_cluster(workers: int) -> Iterator[str]:
    from dask_cluster import dask_cluster  # noqa: PLC0415 - optional, and slow to import

    with dask_cluster(workers, memory_limit=0) as cluster:
        yield f"dask:{cluster.scheduler_address}"


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps(attrs.asdict(_run(Path(given["pool"]), given["engine"]))))
