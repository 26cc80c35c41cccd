"""Recorded negotiation cycles, decided with workers: the decisions are those of one process."""

import pytest

import condor_cycle
from both_engines import run_on_both
from negotiator.engines import processes

#: Every case would take as long again as all cases on one process.
EVERY = 12


@pytest.fixture
def cases_of(pytestconfig):
    """Return the step between two cases: every case of a folder that was named."""
    return 1 if pytestconfig.getoption("cases") else EVERY


def test_recorded_cycles_are_decided_alike_with_workers(
    condor_cases, condor_file, cases_of, tmp_path, monkeypatch
):
    monkeypatch.setattr(condor_cycle, "run_cycle", run_on_both)
    monkeypatch.setattr(processes, "LEAST_PAIRS", 0)
    content = condor_cases.read(condor_file)
    for case in content["cases"][::cases_of]:
        assert not [*condor_cycle.compared(content, case, tmp_path / case["id"])], case["id"]
