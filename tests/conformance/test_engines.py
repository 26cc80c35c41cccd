"""Recorded negotiation cycles, decided with workers: the decisions are those of one process."""

from functools import partial

import pytest

import condor_cycle
from both_engines import WORKERS, run_on_both, wait_for_workers
from condor_cases import departure
from dask_cluster import scheduler_address
from negotiator.engines.dask_engine import DaskEngine

#: Every case would take as long again as all cases on one process.
EVERY = 12


@pytest.fixture(scope="module")
def dask():
    """Return the engine of a cluster whose workers are threads of this process."""
    with scheduler_address() as address:
        engine = DaskEngine(address)
        yield engine
        engine.close()


@pytest.fixture(params=["processes", "dask"])
def engine(request):
    """Return an engine with workers."""
    return WORKERS if request.param == "processes" else request.getfixturevalue("dask")


def test_recorded_cycles_are_decided_alike_with_workers(
    condor_cases, condor_file, engine, tmp_path, monkeypatch, pytestconfig
):
    monkeypatch.setattr(condor_cycle, "run_cycle", partial(run_on_both, engine=engine))
    wait_for_workers(monkeypatch)
    every = 1 if pytestconfig.getoption("cases") else EVERY  # every case of a folder that was named
    content = condor_cases.read(condor_file)
    for case in content["cases"][::every]:
        found = [*condor_cycle.compared(content, case, tmp_path / case["id"])]
        assert not found or departure(content, case), case["id"]
