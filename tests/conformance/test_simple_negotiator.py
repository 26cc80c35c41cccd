"""The simple negotiator of the tests, held to what condor_negotiator decided: only then is it a judge of random pools."""

import pytest

from condor_cases import departure
from simple_negotiator import recorded


def test_the_simple_negotiator_decides_recorded_cycles(condor_cases, condor_file, report):
    """Each case agrees in every number, the accounts included, unless it is a departure."""
    content = condor_cases.read(condor_file)
    failures, counts = [], {"passed": 0, "failed": 0, "not compared": 0, "departures": 0}
    for case in content["cases"]:
        if recorded.left_out(case) is not None:
            counts["not compared"] += 1
            continue
        found = [*recorded.differences(content, case)]
        if found and departure(content, case):
            counts["departures"] += 1
            continue
        counts["failed" if found else "passed"] += 1
        failures += found
    report(f"{condor_file} (simple negotiator)", counts)
    if failures:
        pytest.fail("\n".join([f"{condor_file}: {counts}", *failures[:30]]), pytrace=False)
