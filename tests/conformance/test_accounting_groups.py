"""Accounting groups, compared with what condor_negotiator decided: quotas, allocations, order, turns, rounds."""

import pytest

from condor_accounts import weights_are_known
from condor_cases import departure
from condor_groups import differences

SHOWN = 20
"""Number of differences that are printed; the others are counted."""


def test_groups_are_allocated_and_take_turns_as_recorded(condor_cases, condor_file, report):
    """Each number agrees in six digits; what happened inside a turn is as recorded."""
    content = condor_cases.read(condor_file)
    cases = [
        case for case in content["cases"] if "groups" in case.get("expect", {}) and _is_known(content, case)
    ]
    failures = {case["id"]: found for case in cases if (found := differences(content, case))}
    if cases:
        counts = {"passed": len(cases) - len(failures), "failed": len(failures)}
        report(f"{condor_file}: groups", counts)
    lines = [f"{name}: {line}" for name, found in failures.items() for line in found]
    if lines:
        more = [f"... and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        pytest.fail("\n".join([*lines[:SHOWN], *more]), pytrace=False)


def _is_known(content, case):
    """Return whether the record tells what happened in each turn; the whole cycle of the other cases is compared elsewhere."""
    given = case["given"]
    names = [each["name"] for each in given["submitters"]]
    one_ad_each = len(names) == len({*names}) and "NEGOTIATOR_SUBMITTER_CONSTRAINT" not in given["knobs"]
    return one_ad_each and weights_are_known(content, case) and departure(content, case) is None
