"""Every recorded negotiation cycle, run under ``order: submitters``: matches, rejections, spins, shares and limits."""

import pytest

import condor_cycle
from condor_cases import departure


def test_recorded_negotiation_cycles(condor_cases, condor_file, report, tmp_path):
    """Each case agrees in every number, unless it is a departure."""
    content = condor_cases.read(condor_file)
    failures, counts = [], {"passed": 0, "failed": 0, "departures": 0}
    for case in content["cases"]:
        found = [*condor_cycle.compared(content, case, tmp_path / case["id"])]
        if found and departure(content, case):
            counts["departures"] += 1
            continue
        counts["failed" if found else "passed"] += 1
        failures += found
    report(f"{condor_file} (cycles)", counts)
    if failures:
        pytest.fail("\n".join([f"{condor_file}: {counts}", *failures[:30]]), pytrace=False)
