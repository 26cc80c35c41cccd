"""Tables from Python: one type a column, and the same cells as lists, data frames and Arrow streams."""

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import negotiator as n
from pools import ad, job, slot, write_ads

NOW = 1_800_000_000.0


def table(tmp_path, *values, name="Mark"):
    """Return the slots of a pool of which each has one value in long form, None for none."""
    write_ads(tmp_path / "slots.ads", *(slot(place, **{name: value}) for place, value in enumerate(values)))
    return n.read_pool(tmp_path / "slots.ads").slots


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (("true", "false", None), [True, False, None]),
        (("1", "9223372036854775807", "undefined"), [1, 2**63 - 1, None]),
        (("1", "2.5", "error"), [1.0, 2.5, None]),
        (('"a"', '""', "undefined"), ["a", "", None]),
        (('"a"', "1", "true", "2.5"), ["a", "1", "true", "2.500000000000000E+00"]),
        (("true", "1"), ["true", "1"]),
        (("{1, 2}", "[a = 1]"), ["{ 1,2 }", "[ a = 1 ]"]),
        (("undefined", None), [None, None]),
    ],
)
def test_a_column_has_one_type_whatever_the_ads_hold(tmp_path, values, cells):
    found = table(tmp_path, *values).column("Mark") if any(values) else []
    assert found == cells
    assert list(map(type, found)) == list(map(type, cells))


def test_an_expression_has_its_value_in_the_ad_alone(tmp_path):
    slots = table(tmp_path, "Cpus * 2", "TARGET.Cpus", "7")
    assert slots.column("Mark") == [8, None, 7]
    assert slots.as_written().column("Mark") == ["Cpus * 2", "TARGET.Cpus", "7"]
    assert slots.as_written().column("Cpus") == ["4", "4", "4"]


def test_names_are_those_that_the_ads_spell_first_and_each_attribute_is_one_column(tmp_path):
    write_ads(tmp_path / "slots.ads", slot(0, Mark="1"), slot(1, mARK="2", Other="3"))
    slots = n.read_pool(tmp_path / "slots.ads").slots
    assert [name for name in slots.columns if name.lower() == "mark"] == ["Mark"]
    assert slots.columns[-1] == "Other"
    assert slots.column("Mark") == [1, 2]
    assert slots[0].keys() < slots[1].keys()


def test_rows_slices_and_iteration_agree(tmp_path):
    slots = table(tmp_path, *map(str, range(5)))
    assert [row["Mark"] for row in slots] == [0, 1, 2, 3, 4]
    assert slots[-1] == slots[4]
    assert slots[1:3].column("Mark") == [1, 2]
    assert slots[::-2].column("Mark") == [4, 2, 0]
    assert slots[0] in slots
    assert [*reversed(slots)] == [*slots[::-1]]
    with pytest.raises(IndexError):
        slots[5]


def test_an_empty_table_prints_and_has_no_rows(tmp_path):
    write_ads(tmp_path / "slots.ads", slot(0))
    pool = n.read_pool(tmp_path / "slots.ads")
    assert [*pool.jobs] == []
    assert str(pool.jobs) == "0 jobs, 0 columns"
    assert "<div>" in pool.jobs._repr_html_()
    assert [*n.run(pool, now=NOW).matches.column("rank")] == []


def test_columns_are_found_in_any_case_and_named_as_they_are_asked_for(tmp_path):
    slots = table(tmp_path, "1", "2")
    assert slots.column("MARK") == slots.column("mark") == [1, 2]
    chosen = slots.select("mARK", "name")
    assert chosen.columns == ("mARK", "name")
    assert chosen[0] == {"mARK": 1, "name": slots[0]["Name"]}
    matches = n.run(n.read_pool(tmp_path), now=NOW).matches
    assert matches.select("SLOT").columns == ("SLOT",)


def test_an_unknown_column_is_an_error_with_the_nearest_name(tmp_path):
    with pytest.raises(n.NotFoundError, match="did you mean Mark"):
        table(tmp_path, "1").column("mar")
    with pytest.raises(n.NotFoundError, match=r"Table\.columns"):
        table(tmp_path, "1").select("Mark", "qqqqqq")


def test_bytes_that_are_not_utf_8_are_replaced(tmp_path):
    write_ads(tmp_path / "slots.ads", slot(0))
    text = (tmp_path / "slots.ads").read_bytes()
    (tmp_path / "slots.ads").write_bytes(text.replace(b'"h"', b'"h\xff\xc3\xa9"'))
    assert n.read_pool(tmp_path / "slots.ads").slots.column("Machine") == ["h\N{REPLACEMENT CHARACTER}é"]


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", exclude_characters="\0\n"), max_size=5),
)


def simple_cells(values):
    """Return the cells of a column by the rule of the page, value by value."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) <= 1:
        return list(values)
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    return None  # text


@given(st.lists(CELLS, min_size=1, max_size=6))
def test_the_cells_of_any_column_are_those_of_the_rule(values):
    from negotiator.classad import Ad, Table  # noqa: PLC0415 - the ads themselves
    from negotiator.library.table_rows import AdRows  # noqa: PLC0415

    ads = [Ad([("Name", "x"), *([("Mark", value)] if value is not None else [])]) for value in values]
    rows = AdRows.of(Table.from_ads(ads))
    found = rows.column("Mark").cells() if "Mark" in rows.names else [None] * len(values)
    wanted = simple_cells(values)
    if wanted is None:
        assert all(cell is None or isinstance(cell, str) for cell in found)
        assert [cell is None for cell in found] == [value is None for value in values]
        assert [a for a, b in zip(found, values, strict=True) if isinstance(b, str)] == [
            b for b in values if isinstance(b, str)
        ]
    else:
        assert found == wanted
        assert list(map(type, found)) == list(map(type, wanted))


@pytest.fixture
def mixed(tmp_path):
    """A table with a column of each type, each with and without cells that have no value."""
    write_ads(
        tmp_path / "slots.ads",
        slot(0, Flag="true", Count="1", Share="0.5", Label='"é"', Big=str(2**62)),
        slot(1, Share="1", Big="-1"),
        slot(2, Flag="false", Count="-7", Label='""', Big="0"),
    )
    text = (tmp_path / "slots.ads").read_text()
    (tmp_path / "slots.ads").write_text(text.replace(r"\303\251", "é"), encoding="utf-8")
    slots = n.read_pool(tmp_path / "slots.ads").slots
    return slots.select("Name", "Flag", "Count", "Share", "Label", "Big")


EXPECTED = {
    "Name": ["s0@h", "s1@h", "s2@h"],
    "Flag": [True, None, False],
    "Count": [1, None, -7],
    "Share": [0.5, 1.0, None],
    "Label": ["é", None, ""],
    "Big": [2**62, -1, 0],
}


def test_the_columns_as_lists(mixed):
    assert {name: mixed.column(name) for name in mixed.columns} == EXPECTED


def test_pandas_has_nullable_types_and_the_same_cells(mixed):
    frame = pytest.importorskip("pandas") and mixed.to_pandas()
    assert [str(kind) for kind in frame.dtypes] == [
        "string",
        "boolean",
        "Int64",
        "Float64",
        "string",
        "Int64",
    ]
    cells = {
        name: [None if cell is missing(frame) else cell for cell in frame[name].tolist()] for name in frame
    }
    assert cells == EXPECTED


def missing(frame):
    """Return the value of pandas for no value."""
    return sys.modules[type(frame).__module__.partition(".")[0]].NA


def test_polars_has_the_same_cells(mixed):
    frame = pytest.importorskip("polars") and mixed.to_polars()
    assert [str(kind) for kind in frame.dtypes] == [
        "String",
        "Boolean",
        "Int64",
        "Float64",
        "String",
        "Int64",
    ]
    assert frame.to_dict(as_series=False) == EXPECTED


def test_an_arrow_stream_has_the_same_cells(mixed):
    polars = pytest.importorskip("polars")
    pytest.importorskip("nanoarrow")
    assert polars.DataFrame(mixed).to_dict(as_series=False) == EXPECTED
    assert polars.DataFrame(mixed).schema == mixed.to_polars().schema


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 1000])
def test_an_arrow_stream_has_any_number_of_rows(tmp_path, rows):
    nanoarrow = pytest.importorskip("nanoarrow")
    jobs = [job(place, Even="true" if place % 2 else None) for place in range(rows)]
    write_ads(tmp_path / "pool.ads", slot(0), *jobs)
    table = n.read_pool(tmp_path / "pool.ads").jobs
    table = table.select("ProcId", "Even") if rows > 1 else table
    found = nanoarrow.Array(table).to_pylist()
    assert len(found) == rows
    if rows > 1:
        assert found == [{"ProcId": place, "Even": True if place % 2 else None} for place in range(rows)]


def test_a_result_converts_with_its_reasons(tmp_path):
    polars = pytest.importorskip("polars")
    pytest.importorskip("nanoarrow")
    write_ads(tmp_path / "pool.ads", slot(0), slot(1), job(0), job(1, Requirements="TARGET.Memory > 9000"))
    result = n.run(n.read_pool(tmp_path), now=NOW)
    for table in (result.denials, result.matches, result.set_aside):
        assert polars.DataFrame(table).equals(table.to_polars())
    (denial,) = result.denials.to_polars().to_dicts()
    assert (denial["job"], denial["verdict"], denial["rule"]) == ("1.1", "denied", None)
    (match,) = result.matches.to_polars().to_dicts()
    assert (match["job"], match["slot"], match["rank"]) == ("1.0", "s0@h", 0.0)


@pytest.mark.parametrize(
    ("name", "convert", "install"),
    [
        ("pandas", lambda table: table.to_pandas(), "pip install 'pandas'"),
        ("polars", lambda table: table.to_polars(), "pip install 'polars'"),
        ("nanoarrow", lambda table: table.__arrow_c_stream__(), r"pip install 'negotiator\[arrow\]'"),
    ],
)
def test_without_a_library_the_error_has_the_command_that_installs_it(
    mixed, monkeypatch, name, convert, install
):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(n.MissingLibraryError, match=install):
        convert(mixed)


def test_not_a_number_stays_a_value(tmp_path):
    (cell,) = table(tmp_path, 'real("NaN")').column("Mark")
    assert math.isnan(cell)


def test_secrets_are_in_no_column_and_no_text(tmp_path):
    claim = "<10.0.0.1:9618>#1700000000#1#5ecre7"
    write_ads(
        tmp_path / "pool.ads",
        slot(0, ClaimId=f'"{claim}"', Capability=f'"{claim}"', _condor_privKey=f'"{claim}"'),
        slot(1, Mark=f'ClaimId == "{claim}"', List=f'{{ [ ClaimId = "{claim}" ] }}'),
        job(0, Requirements=f'TARGET.ClaimId == "{claim}"'),
        ad(MyType='"MachinePrivate"', Name='"s0@h"', ClaimId=f'"{claim}"'),
    )
    pool = n.read_pool(tmp_path)
    result = n.run(pool, now=NOW)
    why = result.explain("1.0")
    tables = [pool.slots, pool.jobs, pool.slots.as_written(), pool.jobs.as_written()]
    shown = [pool, result, result.matches, result.denials, why, *tables]
    texts = [text for each in shown for text in (str(each), repr(each), each._repr_html_())]
    texts += [str(each.column(name)) for each in tables for name in each.columns]
    texts += [str(row) for each in [*tables, result.denials, result.matches] for row in each]
    texts += [str(why.values), repr(why.found.alone)]
    assert [text for text in texts if "5ecre7" in text] == []
    assert not {"ClaimId", "Capability", "_condor_privKey"} & set(pool.slots.columns)
