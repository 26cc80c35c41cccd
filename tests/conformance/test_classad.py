"""Every case of the language by the scalar evaluator and by columns, compared with HTCondor's library."""

import pytest

import by_columns
from golden import NOON, attempt, verdict
from negotiator.classad import evaluate, is_true

NOT_PASSING: dict[str, str] = {}
"""Lines that cannot pass, by their id, with the reason: at most 20."""

SHOWN = 20
"""Number of failures that are printed in full; the others are counted."""


def requirements_allow(own, other):
    """True if the Requirements of an ad allow another ad."""
    expr = own.get("Requirements")
    return expr is not None and is_true(evaluate(expr, own, other, NOON))


def scalar_values(folder, cases):
    """Return for each case a list with its value."""
    return [[_scalar(folder, case)] for case in cases]


def _scalar(folder, case):
    ads = folder.ads_of(case)
    if isinstance(ads, dict):
        return ads
    if case.match:
        return all(requirements_allow(*pair) for pair in (ads, ads[::-1]))
    return {"parse_error": True} if case.tree is None else attempt(evaluate, case.tree, *ads, NOON)


def judge(file, values, report, how):
    """Fail the test if a case has another value than the recorded one, or if a line of the file is invalid."""
    counts, failures = verdict(file, values, NOT_PASSING)
    report(f"{file.name} {how}", counts)
    if not file.cases and not failures:
        pytest.skip(f"{file.name} has no cases")
    if failures:
        lines = [
            f"{file.name} {how}: {', '.join(f'{count} {what}' for what, count in counts.items() if count)}",
            *failures[:SHOWN],
        ]
        lines += [f"... and {len(failures) - SHOWN} more"] if len(failures) > SHOWN else []
        pytest.fail("\n".join(lines), pytrace=False)


def test_by_the_scalar_evaluator(classad_cases, file_name, report):
    """The value of each case in its ads is the recorded one; failures have their ids."""
    file = classad_cases.read(file_name)
    judge(file, scalar_values(classad_cases, file.cases), report, "scalar")


def test_by_columns(classad_cases, file_name, report):
    """The value in each row that is the ad of a case is the recorded one, on either side of a match, among rows of other types."""
    file = classad_cases.read(file_name)
    judge(file, by_columns.values(classad_cases, file.cases), report, "columns")


def test_few_lines_cannot_pass():
    """The list has at most 20 lines, each with its reason."""
    assert len(NOT_PASSING) <= 20
    assert all(len(reason) > 20 for reason in NOT_PASSING.values())
