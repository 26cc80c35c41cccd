"""The keys by which columns are kept: what they say of an ad, and which attributes they are made of."""

from hypothesis import given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import Table, parse, parse_ad
from negotiator.classad.columnar import DependencyIndex, footprint

ROWS = Table.from_ads([parse_ad("[Memory = 1; Start = TARGET.Owner]"), parse_ad("[Memory = 2]")])


@settings(deadline=None)
@given(expressions(), st.lists(ads("OnlyRow"), max_size=4), ads("OnlyOther"), st.booleans(), st.booleans())
def test_what_is_reached_is_what_the_footprint_says(text, rows, other, on_rows, shadowed):
    """Found out in a shorter way where an expression reaches no others, it is the same."""
    table = Table.from_ads([parse_ad(row) for row in rows])
    reaches, expr, ad = DependencyIndex(table), parse(text), parse_ad(other)
    reach = reaches.of(expr, on_rows=on_rows, shadowed=shadowed)
    assert reach.found == footprint(expr, table, None, on_rows=on_rows, shadowed=shadowed)
    followed, _ = reaches.follow(reach, ad)
    whole = footprint(expr, table, ad, on_rows=on_rows, shadowed=shadowed)
    assert followed.found.names == whole.names
    assert (followed.found.opaque, followed.found.moves_scope) == (whole.opaque, whole.moves_scope)


def _key(reaches, text, other, *, on_rows=False):
    return reaches.follow(reaches.of(parse(text), on_rows=on_rows, shadowed=False), parse_ad(other))[1]


def test_a_key_has_the_attributes_that_can_be_reached_and_no_others():
    """Also by way of the expressions of the rows, and of the other ad itself."""
    reaches = DependencyIndex(ROWS)
    for on_rows, text, other, names in [
        (False, "TARGET.Memory >= MY.Ask", "[Ask = 1; X = 2]", ("ask",)),
        (True, "MY.Memory >= TARGET.Ask", "[Ask = 1]", ("ask",)),
        (True, "MY.Start == 1", "[Owner = 1]", ("owner",)),
        (False, "MY.Ask", "[Ask = Half + TARGET.Start; Half = 3]", ("ask", "half", "owner")),
        (False, "TARGET.Memory > 5", "[Memory = 3]", ()),
    ]:
        reach = reaches.of(parse(text), on_rows=on_rows, shadowed=False)
        assert reaches.follow(reach, parse_ad(other))[0].names == names


def test_keys_tell_kinds_and_expressions_apart_and_nothing_else():
    """What differs to the language is another key; spelling, and what is not read, is not."""
    reaches = DependencyIndex(ROWS)
    cells = [
        "1",
        "1.0",
        "true",
        "0.0",
        "-0.0",
        '"1"',
        '"a"',
        '"A"',
        "undefined",
        "error",
        "Half",
        "Half + 1",
        "{1}",
    ]
    keys = [_key(reaches, "MY.Ask", f"[Ask = {cell}; Half = 2]") for cell in cells]
    assert len(set(keys)) == len(cells)
    assert _key(reaches, "MY.Ask", "[]") not in keys
    assert _key(reaches, "my.ASK", "[X = 5; aSK = half; hALF = 2]") == keys[cells.index("Half")]
    assert _key(reaches, "MY.Ask", "[Ask = Half; Half = 3]") != keys[cells.index("Half")]
    assert _key(reaches, "MY.Ask", "[Ask = (1)]") == keys[0]
