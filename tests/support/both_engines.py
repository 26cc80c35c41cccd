"""Cycles on one process and on an engine with workers: the bytes must be the same."""

import os
import time

from negotiator.audit.recorded_cycle import result_bytes
from negotiator.cycle.loop import run_cycle
from negotiator.engines import ahead, dask_crew, processes
from negotiator.engines.processes import ProcessEngine

WORKERS = ProcessEngine(2)


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
