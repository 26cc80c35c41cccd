"""``Table.evaluate``: the values of ``ExprTree.eval``, for all ads at once."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import ClassAd, ClassAdException, Environment, ExprTree, Table, Value, parse, parse_ad

MANY = [ClassAd({"Cpus": n, "Load": n / 2, "Name": f"slot{n}", "Odd": n % 2 == 1}) for n in range(5)]


def alone(expr, ad, target):
    try:
        return expr.eval(ad, target)
    except ClassAdException:
        return Value.Error


def same(one, other):
    """True for equal values of one type; NaN is equal to itself."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and (one == other or (one != one and other != other))  # noqa: PLR0124


@given(st.lists(ads("OnlyMine"), min_size=1, max_size=4), ads("OnlyOther"), expressions())
def test_each_value_is_that_of_eval(texts, other, text):
    rows, target, expr = [ClassAd(each) for each in texts], ClassAd(other), ExprTree(text)
    values = Table.from_ads(rows).evaluate(expr, target)
    expected = [alone(expr, row, target) for row in rows]
    assert all(map(same, values.tolist(), expected)), (values, expected)


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("Cpus + 1", np.int64, [1, 2, 3, 4, 5]),
        ("Load", np.float64, [0.0, 0.5, 1.0, 1.5, 2.0]),
        ("Cpus >= TARGET.RequestCpus", np.bool_, [False, False, True, True, True]),
        ("7", np.int64, [7] * 5),
        ("Name", np.object_, ["slot0", "slot1", "slot2", "slot3", "slot4"]),
        ('"x"', np.object_, ["x"] * 5),
        ("nosuch", np.object_, [Value.Undefined] * 5),
        ("Odd ? Name : Cpus", np.object_, [0, "slot1", 2, "slot3", 4]),
        ("{Cpus}[0]", np.int64, [0, 1, 2, 3, 4]),
        ("absTime(Cpus)", np.object_, [dt.datetime.fromtimestamp(n, dt.UTC) for n in range(5)]),
        ("time()", np.int64, [1000] * 5),
    ],
)
def test_an_array_has_the_type_of_its_values(text, dtype, expected):
    values = Table.from_ads(MANY).evaluate(text, ClassAd({"RequestCpus": 2}), Environment(now=1000))
    assert values.dtype == dtype
    assert values.tolist() == expected
    values[:] = values[0]  # it belongs to the caller


def test_tables_take_ads_and_expressions_of_both_interfaces():
    table = Table.from_ads([ClassAd("[a = 1]"), parse_ad("[a = b; b = 2]")])
    for expression in ("a + TARGET.c", parse("a + TARGET.c"), ExprTree("a + TARGET.c")):
        for target in (ClassAd("[c = 1]"), parse_ad("[c = 1]")):
            assert table.evaluate(expression, target).tolist() == [2, 3]


def test_a_table_keeps_the_ads_as_they_were():
    ad = ClassAd({"a": 1})
    table = Table.from_ads([ad])
    ad["a"] = 2
    assert table.evaluate("a").tolist() == [1]


def test_a_table_without_ads_and_an_invalid_text():
    assert Table.from_ads([]).evaluate("a + 1").tolist() == []
    with pytest.raises(ClassAdException, match="expected an operand"):
        Table.from_ads(MANY).evaluate("a +")


def test_a_value_that_eval_gives_up_is_an_error():
    assert Table.from_ads(MANY).evaluate("random(0)").tolist() == [Value.Error] * 5
