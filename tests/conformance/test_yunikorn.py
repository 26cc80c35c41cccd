"""Every case of queues, users and groups, compared with the results of YuniKorn's own code."""

import pytest

from yunikorn import verdict

NOT_PASSING: dict[str, str] = {}
"""Cases that cannot pass, by their id, with the reason: at most 20."""

SHOWN = 20
"""Number of failures that are printed in full; the others are counted."""


def test_cases_of_queues(queue_cases, queue_file, report):
    """Each case has the expected result; failures have their ids."""
    file = queue_cases.read(queue_file)
    counts, failures = verdict(file, NOT_PASSING)
    report(file.name, counts)
    summary = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    if failures:
        more = [f"... and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        pytest.fail("\n".join([f"{file.name}: {summary}", *failures[:SHOWN], *more]), pytrace=False)
    if not file.cases:
        pytest.skip(f"{file.name} has no cases")


def test_few_cases_of_queues_cannot_pass():
    """The list has at most 20 cases, each with its reason."""
    assert len(NOT_PASSING) <= 20
    assert all(len(reason) > 20 for reason in NOT_PASSING.values())
