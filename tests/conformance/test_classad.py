"""Every case of the language by the scalar evaluator and by columns, against what HTCondor's own library says."""

import pytest

import by_columns
from golden import NOON, attempt, verdict
from negotiator.classad import evaluate, is_true

NOT_PASSING: dict[str, str] = {}
"""Lines that cannot pass, by their id, with the reason: at most 20."""

SHOWN = 20
"""Failures that are told in full; of the others there is the number."""


def requirements_allow(own, other):
    """Whether an ad's Requirements let it match another."""
    expr = own.get("Requirements")
    return expr is not None and is_true(evaluate(expr, own, other, NOON))


def scalar_values(folder, cases):
    """For each case its recorded value, alone in a list."""
    return [[_scalar(folder, case)] for case in cases]


def _scalar(folder, case):
    ads = folder.ads_of(case)
    if isinstance(ads, dict):
        return ads
    if case.match:
        return all(requirements_allow(*pair) for pair in (ads, ads[::-1]))
    return {"parse_error": True} if case.tree is None else attempt(evaluate, case.tree, *ads, NOON)


def judge(file, values, report, how):
    """Fail the test if a case has another value than its own, or if a line of the file is no case."""
    counts, failures = verdict(file, values, NOT_PASSING)
    report(f"{file.name} {how}", counts)
    if not file.cases and not failures:
        pytest.skip(f"{file.name} has no cases")
    if failures:
        told = [
            f"{file.name} {how}: {', '.join(f'{count} {what}' for what, count in counts.items() if count)}",
            *failures[:SHOWN],
        ]
        told += [f"... and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        pytest.fail("\n".join(told), pytrace=False)


def test_by_the_scalar_evaluator(classad_cases, file_name, report):
    """The value of each case in its ads is the recorded one; the failures are named by their ids."""
    file = classad_cases.read(file_name)
    judge(file, scalar_values(classad_cases, file.cases), report, "scalar")


def test_by_columns(classad_cases, file_name, report):
    """So is the value in each row that is the ad of a case, on either side of a match, among rows of other kinds."""
    file = classad_cases.read(file_name)
    judge(file, by_columns.values(classad_cases, file.cases), report, "columns")


def test_few_lines_cannot_pass():
    """At most 20 lines are on the list, each with its reason."""
    assert len(NOT_PASSING) <= 20
    assert all(len(reason) > 20 for reason in NOT_PASSING.values())
