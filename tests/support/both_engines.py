"""Cycles on one process and on an engine with workers: the bytes must be the same."""

import itertools
import os
import time

from negotiator.audit.recorded_cycle import result_bytes
from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.engines import ahead, dask_crew, processes
from negotiator.engines.processes import ProcessEngine
from negotiator.plugin import Cycle
from pools import job, slot, snapshot

WORKERS = ProcessEngine(2)
#: Random pools of a test: NEGOTIATOR_POOLS=100 tries as many.
POOLS = int(os.environ.get("NEGOTIATOR_POOLS", "25"))


def plain(slots=40, classes=12, jobs=3, first=0, **changed):
    """Return a pool of slots with 1 to 8 processors and classes of jobs that prefer some of them."""
    machines = [
        slot(n, Machine=f'"h{n % 7}"', Cpus=str(n % 8 + 1), Memory=str(1024 * (n % 5 + 1)))
        for n in range(first, first + slots)
    ]
    waiting = [
        job(
            **{
                "ClusterId": str(kind),
                "ProcId": str(n),
                "Owner": f'"u{kind % 4}"',
                "User": f'"u{kind % 4}@d"',
                "Requirements": f"TARGET.Cpus >= {kind % 5} && TARGET.Memory > {kind * 100}",
                "Rank": f"TARGET.Cpus * {kind % 3 - 1}",
            }
            | changed
        )
        for kind, n in itertools.product(range(1, classes + 1), range(jobs))
    ]
    return snapshot(machines, waiting)


def run(pool, engine=None, **more):
    """Run a cycle under the built-in bundle."""
    bundle = load_bundle(default_bundle())
    more |= {} if engine is None else {"engine": engine}
    return run_cycle(pool, bundle, Cycle(1, 1_800_000_000.0, bundle.digest), **more)


def run_on_both(*args, engine=WORKERS, **more):
    """Run a cycle on one process and on an engine, compare the bytes, and return the result."""
    alone = run_cycle(*args, **more)
    assert result_bytes(run_cycle(*args, **more, engine=engine)) == result_bytes(alone)
    return alone


def wait_for_workers(monkeypatch):
    """Let small pools have workers, and turns wait for them, which would be over before a worker has answered."""
    monkeypatch.setattr(ahead, "LEAST_PAIRS", 0)
    monkeypatch.setattr(dask_crew, "_LEAD", 0)
    stopped = []
    of_fork, of_crew = processes.Fork.answers, dask_crew.DaskCrew.answers

    def begun(self, until):
        gone = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        while not self.begun[until] and os.waitid(os.P_PID, self.pid, gone) is None:
            time.sleep(0.0002)
        return of_fork(self, until)

    def answered(self, until):
        found, left = list(of_crew(self, until)), 0 if self in stopped else 2000
        while until not in {each.number for _, each in found} and left:
            if all(share.is_lost for share in self.shares):
                return found
            time.sleep(0.0005)
            found, left = [*found, *of_crew(self, until)], left - 1
        if not left:
            stopped.append(self)  # its workers never begin: they were stopped before
        return found

    monkeypatch.setattr(processes.Fork, "answers", begun)
    monkeypatch.setattr(dask_crew.DaskCrew, "answers", answered)
