"""Recorded negotiation cycles, decided with workers: the decisions are those of one process."""

import pytest

import condor_cycle
from negotiator.audit.recorded_cycle import result_bytes
from negotiator.cycle.loop import run_cycle
from negotiator.engines.processes import ProcessEngine

#: Every case would take as long again as all cases on one process.
EVERY = 12


def both(*args, **more):
    """Run a cycle on one process and on several, compare the bytes, and return the result."""
    alone = run_cycle(*args, **more)
    assert result_bytes(run_cycle(*args, **more, engine=ProcessEngine(2, least_pairs=0))) == result_bytes(
        alone
    )
    return alone


@pytest.fixture
def cases_of(pytestconfig):
    """Return the step between two cases: every case of a folder that was named."""
    return 1 if pytestconfig.getoption("cases") else EVERY


def test_recorded_cycles_are_decided_alike_with_workers(
    condor_cases, condor_file, cases_of, tmp_path, monkeypatch
):
    monkeypatch.setattr(condor_cycle, "run_cycle", both)
    content = condor_cases.read(condor_file)
    for case in content["cases"][::cases_of]:
        assert not [*condor_cycle.compared(content, case, tmp_path / case["id"])], case["id"]
