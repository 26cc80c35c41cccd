"""Every line of the golden corpus by columns: as rows of a table, on either side, among ads of other kinds."""

from functools import cache

import pytest
from golden import AREAS, ad, expected, lines, recorded, same, tree

from negotiator.classad import (
    ClassAd,
    Environment,
    References,
    Side,
    Table,
    evaluate_table,
    parse_ad,
    references,
)
from negotiator.classad.tree import AdRef, Attr

NOON = Environment(now=1_700_000_000.0)
DECOYS = [
    parse_ad("[]"),
    parse_ad('[A = "x"; B = {1}; Memory = "big"; Cpus = 1.5; Requirements = undefined; OnlyT = error]'),
    parse_ad("[A = B; B = C + 1; C = true; Memory = undefined; b = -1; s = 2; Requirements = Memory > 1]"),
]
REQUIREMENTS = Attr("Requirements", AdRef(Side.MY))


@cache
def table_of(text):
    """A table in which the ad of the line is the second row and the last."""
    row = ClassAd() if text is None else ad(text)
    return Table.from_ads([DECOYS[0], row, *DECOYS[1:], row])


def _sides(line):
    """The roles that the ads of a line can play: rows, other ad, and the side of the rows."""
    if line["target"] is None:
        return [(table_of(line["my"]), None, Side.MY)]
    by_target = (table_of(line["target"]), ad(line["my"]), Side.TARGET)
    return (
        [by_target]
        if line["my"] is None
        else [by_target, (table_of(line["my"]), ad(line["target"]), Side.MY)]
    )


def _values(line):
    expr = tree(line)
    if expr is None or (line["my"] is line["target"] is None and references(expr) != References()):
        return []  # no expression, or one that looks for names without any ad, which no row is
    columns = [evaluate_table(expr, table, other, side=side, env=NOON) for table, other, side in _sides(line)]
    return [recorded(column.value(row)) for column in columns for row in (1, len(column) - 1)]


def _verdicts(line):
    """Whether both Requirements are true, the rows being the slots and then the jobs."""
    verdicts = []
    for rows, other in ((line["target"], line["my"]), (line["my"], line["target"])):
        table = table_of(rows)
        both = [
            evaluate_table(REQUIREMENTS, table, ad(other), side=side, env=NOON).is_true() for side in Side
        ]
        verdicts += [bool((both[0] & both[1])[row]) for row in (1, len(table) - 1)]
    return verdicts


@pytest.mark.parametrize("area", AREAS)
def test_values_by_columns_are_those_that_htcondor_computes(area):
    """The value of each line is the recorded one in each row of its ad; the failures are named by their ids."""
    failed = {}
    count = 0
    for line in lines(area):
        got = _verdicts(line) if line["type"] == "match" else _values(line)
        count += len(got)
        if not all(same(value, expected(line)) for value in got):
            failed[line["id"]] = (line["expr"], got, expected(line))
    assert failed == {}
    assert count > 50
