"""Every line of the golden corpus by the scalar evaluator."""

import pytest
from golden import AREAS, ad, expected, lines, recorded, same, tree

from negotiator.classad import Environment, evaluate, is_true

NOT_PASSING: dict[str, str] = {}
"""Lines that cannot pass, by their id, with the reason."""

NOON = Environment(now=1_700_000_000.0)


def requirements_allow(own, other):
    """Whether an ad's Requirements let it match another."""
    expr = own.get("Requirements")
    return expr is not None and is_true(evaluate(expr, own, other, NOON))


def value(line):
    my, target = ad(line["my"]), ad(line["target"])
    if line["type"] == "match":
        return requirements_allow(target, my) and requirements_allow(my, target)
    expr = tree(line)
    return {"parse_error": True} if expr is None else recorded(evaluate(expr, my, target, NOON))


@pytest.mark.parametrize("area", AREAS)
def test_values_are_those_that_htcondor_computes(area):
    """The value of each line is the recorded one; the failures are named by their ids."""
    failed = {}
    for line in lines(area):
        got = value(line)
        if not same(got, expected(line)):
            failed[line["id"]] = (line["expr"], got, expected(line))
    assert {name: what for name, what in failed.items() if name not in NOT_PASSING} == {}


def test_the_list_of_exceptions_is_of_lines_that_do_not_pass():
    """A line that passes again is taken off the list."""
    passing = [
        line["id"]
        for area in AREAS
        for line in lines(area)
        if line["id"] in NOT_PASSING and same(value(line), expected(line))
    ]
    assert passing == []


def test_the_corpus_is_there():
    """Each area of the corpus is read, so that a missing file is not a passing one."""
    counts = {area: sum(1 for _ in lines(area)) for area in AREAS}
    assert len(counts) == 9
    assert min(counts.values()) > 100
    assert sum(counts.values()) > 60_000
