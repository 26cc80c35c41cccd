"""Tables of ads: cells as written, rows taken from tables, groups of equal rows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import ERROR, UNDEFINED, Ad, IntegerValues, Kind, Table, parse_ad, unparse
from negotiator.classad.values import RelTime


def _table(*texts):
    return Table.from_ads([parse_ad(text) for text in texts])


MIXED = _table(
    "[A = 1]", "[A = 1.0]", "[A = true]", "[A = undefined]", "[]", '[A = "a"]', '[a = "A"]', "[A = error]",
    "[A = B + 1]", "[A = B+1]", "[A = C + 1]", "[A = {1}]", "[A = -(2)]", "[A = (1)]", "[A = -0.0]", "[A = 0.0]",
    "[A = -true]",
)  # fmt: skip
X = Kind.EXPRESSION
KINDS = [
    Kind.INTEGER, Kind.REAL, Kind.BOOLEAN, Kind.UNDEFINED, Kind.ABSENT, Kind.STRING, Kind.STRING, Kind.ERROR,
    X, X, X, X, Kind.INTEGER, Kind.INTEGER, Kind.REAL, Kind.REAL, X,
]  # fmt: skip


def test_cells_have_the_kind_they_are_written_with():
    """Absent is not undefined; a literal with a sign or in parentheses is not an expression."""
    assert MIXED.column("a").kinds.tolist() == KINDS
    times = Table.from_ads([Ad([("A", RelTime(60.0))]), Ad([("A", RelTime(60.0))])])
    assert times.column("A").kind is Kind.OTHER
    assert times.column("A").value(1) == RelTime(60.0)


def test_cells_have_the_value_they_are_written_with():
    """Values have the type of the language; an absent attribute reads as undefined."""
    column = MIXED.column("A")
    values = [column.value(row) for row in (0, 1, 2, 3, 4, 5, 6, 7, 12, 13)]
    assert values == [1, 1.0, True, UNDEFINED, UNDEFINED, "a", "A", ERROR, -2, 1]
    assert [type(value) for value in values[:3]] == [int, float, bool]
    assert math.copysign(1, column.value(14)) == -1.0
    with pytest.raises(ValueError, match="expression"):
        column.value(8)
    for row in (len(MIXED), -len(MIXED) - 1):
        with pytest.raises(IndexError):
            column.value(row)


def test_groups_differ_by_kind_and_case():
    """1, 1.0, true, absent, undefined, "a" and "A" are seven groups; expressions are compared by text."""
    ids, first = MIXED.group(["A"])
    assert ids.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 0, 12, 13, 14]
    assert first.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 15, 16]


texts = st.sampled_from(["1", "1.0", "true", "undefined", '"a"', '"A"', "B + 1", "2", "3", None])
rows = st.lists(st.tuples(texts, texts, texts), max_size=40)


def _rows_table(cells):
    return _table(
        *(
            "[" + "; ".join(f"{name} = {text}" for name, text in zip("ABC", row, strict=True) if text) + "]"
            for row in cells
        )
    )


@given(rows, st.lists(st.sampled_from(["A", "b", "C", "Nobody"]), max_size=4))
def test_groups_are_numbered_by_first_appearance(cells, names):
    """As a loop over the rows with a dictionary would number them."""
    ids, first = _rows_table(cells).group(names)
    seen = {}
    wanted = []
    for row in cells:
        key = tuple(row["abc".index(name.lower())] for name in names if name != "Nobody")
        wanted.append(seen.setdefault(key, len(seen)))
    assert ids.tolist() == wanted
    assert first.tolist() == [wanted.index(group) for group in range(len(seen))]


@given(rows, st.data())
def test_a_table_taken_from_another_equals_one_made_of_its_ads(cells, data):
    """Rows may be taken by number, in any order and repeatedly, or by a mask; and again from what was taken."""
    table = _rows_table(cells)
    numbers = data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=20) if cells else st.just([]))
    taken = table.take(np.array(numbers, np.int32))
    assert taken.ads == tuple(table.ad(row) for row in numbers)
    again = taken.take(np.arange(len(numbers)) % 2 == 0)
    assert again.ads == tuple(table.ad(row) for row in numbers[::2])
    fresh = Table.from_ads(again.ads)
    for name in "ABC":
        kinds = [np.broadcast_to(found.column(name).kinds, len(found)).tolist() for found in (again, fresh)]
        assert kinds[0] == kinds[1]
    assert [array.tolist() for array in again.group("CA")] == [array.tolist() for array in fresh.group("CA")]
    assert again.names() == fresh.names()


def test_taking_rows_that_do_not_exist_is_an_error():
    """Row numbers out of range, and masks of another length."""
    with pytest.raises(IndexError):
        MIXED.take(np.array([len(MIXED)]))
    with pytest.raises(IndexError):
        MIXED.take(np.array([True, False]))
    with pytest.raises(IndexError):
        MIXED.take(np.array([0, -len(MIXED) - 1]))


def test_rows_may_be_counted_from_the_end():
    """As in NumPy, whether they are taken from a whole table or from some of its rows."""
    for table in (MIXED, MIXED.take(np.arange(len(MIXED)))):
        assert table.take(np.array([-1, 0])).ads == (MIXED.ad(len(MIXED) - 1), MIXED.ad(0))


def test_the_expressions_of_an_attribute_are_those_of_the_ads():
    """In the order of the rows, None for ads without the attribute."""
    taken = MIXED.take(np.array([8, 4, 0, 9, 8]))
    assert taken.expressions("a") == [ad.get("A") for ad in taken.ads]


def test_groups_of_many_distinct_values():
    """Attributes with a different value in each row, alone and together."""
    table = _table(*(f"[A = {row // 2}; B = {row % 500}; C = {row}]" for row in range(1000)))
    ids, first = table.group(["A", "B", "C"])
    assert ids.tolist() == list(range(1000)) == first.tolist()
    assert len(table.group(["A"])[1]) == len(table.group(["B"])[1]) == 500


def test_rows_of_one_expression_come_together():
    """The parts of an attribute cover the rows in which it is an expression; each part has the rows of one."""
    parts = MIXED.parts("A")
    found = {row: unparse(part.expr) for part in parts for row in part.rows.tolist()}
    assert sorted(found) == [8, 9, 10, 11, 16]
    assert found[8] == found[9] == "B + 1"
    assert all(part.table.ads == tuple(MIXED.ad(row) for row in part.rows.tolist()) for part in parts)


def test_rare_expressions_come_as_one_part():
    """If each row has a different expression, they are not split into as many tables."""
    table = _table(*(f"[A = B + {row}]" for row in range(50)), *["[A = C]"] * 30)
    common, rare = table.parts("A")
    assert unparse(common.expr) == "C"
    assert rare.expr is None
    assert rare.rows.tolist() == list(range(50))


def test_names_are_those_of_any_ad_in_lower_case():
    """Spelling does not matter, and a taken table has the names of its own ads only."""
    table = _table("[Memory = 1; memory = 2]", "[CPUS = 1]", "[]")
    assert table.names() == {"memory", "cpus"}
    assert table.take(np.array([1, 2])).names() == {"cpus"}


def test_numbers_and_strings_are_evaluated_in_the_ad_alone():
    """Plugin authors get plain arrays; values of other types are the default, or None."""
    table = _table(
        "[A = B * 2; B = 2]", '[A = "x"]', "[A = TARGET.B]", "[A = true]", "[]", "[A = strcat(A, 1)]"
    )
    assert table.numbers("a", -1.0).tolist() == [4.0, -1.0, -1.0, 1.0, -1.0, -1.0]
    assert np.isnan(table.numbers("Nobody")).all()
    assert table.strings("A").tolist() == [None, "x", None, None, None, None]
    assert table.strings("B").tolist() == [None] * 6


def test_derived_arrays_are_read_only():
    """They are shared between callers."""
    for array in (MIXED.numbers("A"), MIXED.column("A").kinds, MIXED.column("A").is_true()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_column_gives_truth_numbers_and_values():
    """``is_true``, ``numbers`` and ``value`` of cells, without evaluation."""
    column = _table(
        "[A = 0]", "[A = 3]", '[A = "true"]', "[]", "[A = undefined]", "[A = error]", "[A = true]"
    ).column("A")
    assert column.is_true().tolist() == [False, True, False, False, False, False, True]
    assert [column.value(row) for row in range(7)] == [0, 3, "true", UNDEFINED, UNDEFINED, ERROR, True]
    assert column.numbers(-1).tolist() == [0, 3, -1, -1, -1, -1, 1]


def test_equal_strings_fold_ascii_letters_only():
    """The case of A to Z does not matter, that of other letters does."""
    column = _table('[A = "ABC"]', '[A = "abc"]', '[A = "É"]', '[A = "é"]').column("A")
    upper, lower, big, small = column.folded.tolist()
    assert upper == lower
    assert len({upper, big, small}) == 3


def test_a_table_without_ads():
    """It has no names, no groups, and columns of no rows."""
    table = Table.from_ads([])
    assert len(table) == 0
    assert table.names() == frozenset()
    assert [array.tolist() for array in table.group(["A"])] == [[], []]
    assert table.numbers("A").shape == table.strings("A").shape == table.column("A").is_true().shape == (0,)
    assert Table.from_ads([Ad()]).column("A").kind is Kind.ABSENT


def test_expressions_that_print_alike_may_differ():
    """The 17th digit of a real is lost in print; rows that differ in it are different."""
    table = _table("[A = B == 0.3; B = 0.3]", "[A = B == 0.30000000000000004; B = 0.3]")
    assert table.group(["A"])[0].tolist() == [0, 1]


def test_attributes_added_to_a_table_replace_those_of_its_ads():
    table = _table("[Name = 1; A = 1]", "[Name = 2; a = B + 1]", "[Name = 3]").take([2, 0, 1])
    added = table.with_attributes(
        {"b": (np.array([0, 1, 1]), [None, 5]), "Name": (np.array([1, 0, 0]), ["x", "y"])}
    )
    assert added.numbers("A", 0.0).tolist() == [0.0, 1.0, 6.0]
    assert added.strings("Name").tolist() == ["y", "x", "x"]
    assert added.take([2]).ad(0).evaluate("A") == 6
    assert added.names() == {"name", "a", "b"}
    assert table.names() == {"name", "a"}


@given(rows, st.data())
def test_a_table_with_added_attributes_equals_one_made_of_its_ads(cells, data):
    """The codes may name any value, or none."""
    table = _rows_table(cells)
    codes = np.array([data.draw(st.integers(0, 2)) for _ in cells], np.int64)
    values = [None, 1, "b"]
    added = table.with_attributes({"b": (codes, values)})
    made = Table.from_ads(
        [ad.replaced({"b": values[code]}) for ad, code in zip(table.ads, codes.tolist(), strict=True)]
    )
    assert [dict(ad.items()) for ad in added.ads] == [dict(ad.items()) for ad in made.ads]
    assert [array.tolist() for array in added.group("AB")] == [array.tolist() for array in made.group("AB")]


@given(rows, st.data())
def test_a_table_of_derived_ads_equals_one_made_of_them(cells, data):
    """They have attributes of the table by other names, integers, and any values; rows in any order, some twice."""
    table = _rows_table(cells)
    picked = data.draw(st.lists(st.integers(0, len(cells) - 1), max_size=5)) if cells else []
    numbers = np.array([data.draw(st.sampled_from((1, 2, 2**60))) for _ in picked], np.int64)
    present = np.array([data.draw(st.booleans()) for _ in picked], np.bool_)
    codes = np.array([data.draw(st.integers(0, 2)) for _ in picked], np.int64)
    values = [None, 1, "b"]
    derived = table.derived(picked, {"B2": "B", "N": IntegerValues(numbers, present), "v": (codes, values)})
    made = Table.from_ads(
        [
            Ad(
                [
                    *([("B2", table.ad(row).get("B"))] if "B" in table.ad(row) else []),
                    *([("N", int(number))] if has else []),
                    *([] if values[code] is None else [("v", values[code])]),
                ]
            )
            for row, number, has, code in zip(picked, numbers, present, codes.tolist(), strict=True)
        ]
    )
    assert [dict(ad.items()) for ad in derived.ads] == [dict(ad.items()) for ad in made.ads]
    assert derived.names() == made.names()
    names = ["B2", "N", "V", "none"]
    assert [array.tolist() for array in derived.group(names)] == [
        array.tolist() for array in made.group(names)
    ]
    assert [derived.numbers(name, -1.0).tolist() for name in names] == [
        made.numbers(name, -1.0).tolist() for name in names
    ]
