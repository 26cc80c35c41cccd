"""Tables made with a dictionary: the same as tables of the ads themselves, and changed in place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import UNDEFINED, Ad, Side, Table, evaluate_table, parse, parse_old, unparse
from negotiator.classad.syntax import Literal
from negotiator.classad.tables import AdDictionary, TooManyNamesError
from negotiator.classad.tables import dictionary as dictionary_module
from negotiator.classad.tables.store import StaleError

VALUES = [
    "1", "1.0", "true", "(1)", "-1", "- 1", "+1", "undefined", "error", '"a"', '"A"', '"x\\"y"', "B + 1", "B+1",
    "C * 2", "TARGET.A", "{1, B}", "-0.0", "0.0", 'absTime("2026-11-21T00:00:00Z")', "1e999", "9999999999999999999",
]  # fmt: skip
values = st.sampled_from(VALUES).map(parse_old)
names = st.sampled_from(["A", "a", "B", "C", "Requirements", "D"])
ads = st.lists(st.tuples(names, values), max_size=6).map(Ad)
many = st.lists(ads, max_size=12)


def facts(table):
    """Return all that a table gives about its ads."""
    cells = {}
    for name in ("A", "b", "C", "D", "requirements", "nobody"):
        column = table.column(name)
        kinds = np.broadcast_to(column.kinds, (len(table),)).tolist()
        read = [str(column.value(row)) if kind != 7 else "" for row, kind in enumerate(kinds)]
        parts = sorted((unparse(part.expr), part.rows.tolist()) for part in table.parts(name))
        cells[name] = kinds, read, parts, len(table.scans(name))
    groups = [array.tolist() for array in table.group(["A", "B", "Requirements"])]
    printed = [[(name, unparse(expr)) for name, expr in ad.items()] for ad in table.ads]
    value = evaluate_table(parse("A =?= B || C < D"), table, Ad([("A", 5)]), side=Side.MY)
    found = [str(value.value(row)) for row in range(len(table))]
    return cells, groups, printed, found, table.names()


@given(many, st.data())
def test_tables_with_and_without_a_dictionary_are_equal(given_ads, data):
    """Cells, parts, groups, ads and values are the same, also of rows taken from them."""
    one, two = Table.from_ads(given_ads), Table.from_ads(given_ads, AdDictionary())
    assert facts(one) == facts(two)
    rows = data.draw(st.lists(st.integers(0, len(given_ads) - 1), max_size=8)) if given_ads else []
    assert facts(one.take(np.array(rows, np.int64))) == facts(two.take(np.array(rows, np.int64)))


@given(many, many, st.data())
def test_a_table_is_changed_in_place(before, after, data):
    """After rows were replaced and appended it equals a table made of the new ads."""
    dictionary = AdDictionary()
    table = Table.from_ads(before, dictionary)
    table.append(after)
    expected = [*before, *after]
    assert facts(table) == facts(Table.from_ads(expected))
    rows = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=8)) if expected else []
    new = [data.draw(ads) for _ in rows]
    table.replace(rows, new)
    for row, ad in zip(rows, new, strict=True):
        expected[row] = ad
    assert facts(table) == facts(Table.from_ads(expected))


@given(many)
def test_a_table_can_be_made_of_the_ads_of_another(given_ads):
    """With the same dictionary or another one."""
    dictionary = AdDictionary()
    table = Table.from_ads(given_ads, dictionary)
    again = [
        Table.from_ads(table.ads),
        Table.from_ads(table.ads, dictionary),
        Table.from_ads(table.ads, AdDictionary()),
    ]
    assert [facts(each) for each in again] == [facts(table)] * 3


def test_the_last_value_of_a_repeated_name_counts():
    """The layout is the same as that of an ad with the name once."""
    dictionary = AdDictionary()
    cells = [[dictionary.cell(line, line[0], line[4:]) for line in lines] for lines in (
        ["A = 1", "a = 2"], ["A = 3"], ["B = 4", "A = 5"],
    )]  # fmt: skip
    table = Table.from_ads([dictionary.ad(np.array(row)) for row in cells], dictionary)
    assert facts(Table.from_ads(table.ads, AdDictionary())) == facts(table)
    assert dict(table.ad(0).items()) == {"A": Literal(2)}


def test_ads_and_tables_taken_before_rows_were_replaced_are_stale():
    """They raise an error instead of giving new values; appending makes nothing stale."""
    table = Table.from_ads([Ad([("A", 1), ("D", 4)]), Ad([("B", 2)])], AdDictionary())
    ad, taken = table.ad(0), table.take([1])
    table.append([Ad([("A", 3)])])
    assert ad.integer("A") == 1
    assert taken.numbers("B").tolist() == [2]
    table.replace([0], [Ad()])
    with pytest.raises(StaleError, match="take the ad or rows again"):
        ad.integer("D")
    with pytest.raises(StaleError):
        taken.column("C")
    with pytest.raises(StaleError):
        taken.take([0])
    assert table.ad(0).evaluate("A") is UNDEFINED
    assert table.numbers("A", -1).tolist() == [-1, -1, 3]


def test_rows_are_replaced_by_a_mask():
    """Rows are given as for ``take``."""
    table = Table.from_ads([Ad([("A", n)]) for n in range(4)], AdDictionary())
    table.replace(np.array([False, False, True, True]), [Ad([("A", 7)]), Ad()])
    assert table.numbers("A", -1).tolist() == [0, 1, 7, -1]


def test_ads_are_appended_all_or_none(monkeypatch):
    """If there is no room for the names of one ad, the table does not change."""
    monkeypatch.setattr(dictionary_module, "MAX_NAMES", 3)
    table = Table.from_ads([Ad([("A", 1)])], AdDictionary())
    before = facts(table)
    new = Ad([("A", 2), ("B", 3)])
    with pytest.raises(TooManyNamesError):
        table.append([*[new] * 5000, Ad([("C", 1), ("D", 2)])])
    with pytest.raises(TooManyNamesError):
        table.replace([0], [Ad([("E", 1)])])
    assert facts(table) == before
    table.append([new])
    assert table.numbers("B", -1).tolist() == [-1, 3]


def test_the_expressions_of_an_ad_are_a_sequence():
    """It can be indexed from either end, and sliced."""
    ad = Table.from_ads([Ad([("A", 1), ("B", 2), ("C", 3)])], AdDictionary()).ad(0)
    assert ad.expressions[1:] == (Literal(2), Literal(3))
    assert ad.expressions[-1] == Literal(3)
    assert ad.expressions[-1] is ad.expressions[2]
    with pytest.raises(IndexError):
        ad.expressions[3]


def test_only_whole_tables_made_with_a_dictionary_are_changed():
    """Other tables, a wrong number of ads and a wrong row are errors."""
    table = Table.from_ads([Ad()], AdDictionary())
    for other in (Table.from_ads([Ad()]), table.take([0])):
        with pytest.raises(TypeError, match="whole table made with a dictionary"):
            other.append([Ad()])
    with pytest.raises(ValueError, match="2 ads for 1 rows"):
        table.replace([0], [Ad()] * 2)
    with pytest.raises(IndexError):
        table.replace([1], [Ad()])


def test_many_rows_of_several_layouts():
    """Each ad is read back unchanged."""
    texts = ["1", "2", '"x"', "B + 1"]
    given_ads = [
        Ad([("Name", f"slot{n}"), ("B", n % 7), *([("A", parse_old(texts[n % 4]))] if n % 3 else [])])
        for n in range(10_000)
    ]
    table = Table.from_ads(given_ads, AdDictionary())
    assert table.strings("Name").tolist() == [f"slot{n}" for n in range(10_000)]
    assert table.numbers("B").tolist() == [n % 7 for n in range(10_000)]
    assert [unparse(ad.get("A")) if "A" in ad else None for ad in table.ads] == [
        texts[n % 4] if n % 3 else None for n in range(10_000)
    ]
    assert len(table.group(["A", "B"])[1]) == 5 * 7


def test_a_frozen_table_can_not_be_changed_and_is_stale_once_its_origin_has_changed():
    """Plugins get frozen tables: what one of them could change, the others and the audit log would see."""
    table = Table.from_ads([Ad([("A", 1)])], AdDictionary())
    frozen = table.frozen()
    assert frozen.frozen() is frozen
    for change in (lambda: frozen.append([Ad()]), lambda: frozen.replace([0], [Ad()])):
        with pytest.raises(TypeError, match="not frozen"):
            change()
    assert frozen.numbers("A").tolist() == [1]
    table.append([Ad([("A", 2)])])
    assert len(frozen) == 1
    with pytest.raises(StaleError):
        frozen.ad(0)
