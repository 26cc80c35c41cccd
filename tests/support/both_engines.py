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
    of_fork, of_crew = processes.Fork.answers, dask_crew.DaskCrew.answers

    def begun(self, until):
        gone = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        while not self.begun[until] and os.waitid(os.P_PID, self.pid, gone) is None:
            time.sleep(0.0002)
        return of_fork(self, until)

    def answered(self, until):
        found = list(of_crew(self, until))
        while not all(share.is_lost for share in self.shares) and until not in {
            each.number for _, each in found
        }:
            time.sleep(0.0005)
            found += of_crew(self, until)
        return found

    monkeypatch.setattr(processes.Fork, "answers", begun)
    monkeypatch.setattr(dask_crew.DaskCrew, "answers", answered)
