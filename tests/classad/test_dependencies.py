"""The attributes that an expression depends on, and their values as the key of the column cache."""

from hypothesis import given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import Table, parse, parse_ad
from negotiator.classad.columnar import DependencyIndex, footprint

ROWS = Table.from_ads([parse_ad("[Memory = 1; Start = TARGET.Owner]"), parse_ad("[Memory = 2]")])


@settings(deadline=None)
@given(expressions(), st.lists(ads("OnlyRow"), max_size=4), ads("OnlyOther"), st.booleans(), st.booleans())
def test_the_index_gives_the_footprint_of_an_expression(text, rows, other, on_rows, shadowed):
    """Also by the shorter way for expressions that read constants only."""
    table = Table.from_ads([parse_ad(row) for row in rows])
    index, expr, ad = DependencyIndex(table), parse(text), parse_ad(other)
    direct = index.without_other_ad(expr, on_rows=on_rows, shadowed=shadowed)
    assert direct.footprint == footprint(expr, table, None, on_rows=on_rows, shadowed=shadowed)
    found = index.resolve(direct, ad)[0].footprint
    whole = footprint(expr, table, ad, on_rows=on_rows, shadowed=shadowed)
    assert found.names == whole.names
    assert (found.opaque, found.moves_scope) == (whole.opaque, whole.moves_scope)


@settings(deadline=None)
@given(expressions(), st.lists(ads("OnlyOther"), max_size=12), st.booleans())
def test_one_index_serves_many_ads(text, others, on_rows):
    """The ads before one do not change its dependencies, and ads with equal values have equal footprints."""
    index, expr = DependencyIndex(ROWS), parse(text)
    direct = index.without_other_ad(expr, on_rows=on_rows, shadowed=False)
    for other in others:
        ad = parse_ad(other)
        found, values = index.resolve(direct, ad)
        whole = footprint(expr, ROWS, ad, on_rows=on_rows, shadowed=False)
        assert found.footprint.names == whole.names
        assert (found.footprint.opaque, found.footprint.moves_scope) == (whole.opaque, whole.moves_scope)
        assert values == index.resolve(found, ad)[1]


def _chain(last, length=300):
    links = "; ".join(f"C{n} = C{n + 1} + 1" for n in range(length))
    return parse_ad(f"[{links}; C{length} = {last}]")


def test_a_chain_of_references_is_followed_at_once(monkeypatch):
    """A hostile user's long chains are followed once for all jobs with equal expressions, not once for each link."""
    followed = []

    def counted(*args, **options):
        followed.append(args)
        return footprint(*args, **options)

    monkeypatch.setattr("negotiator.classad.columnar.dependencies.footprint", counted)
    index = DependencyIndex(ROWS)
    direct = index.without_other_ad(parse("C0 > 1"), on_rows=False, shadowed=False)
    for last in range(50):
        assert len(index.resolve(direct, _chain(last))[0].names) == 301
    assert len(followed) == 1


def test_ads_that_differ_deep_in_their_chains_are_told_apart():
    """Whatever number of ads agree in all expressions but one."""
    index = DependencyIndex(ROWS)
    direct = index.without_other_ad(parse("C0 > 1"), on_rows=False, shadowed=False)
    for link in range(0, 60, 3):
        names = [f"C{n} = C{n + 1} + 1" for n in range(60)]
        names[link] = f"C{link} = D{link} + 1"
        found, _ = index.resolve(direct, parse_ad(f"[{'; '.join(names)}]"))
        assert f"d{link}" in found.names
        assert f"c{link + 1}" not in found.names


def _values(index, text, other):
    direct = index.without_other_ad(parse(text), on_rows=False, shadowed=False)
    return index.resolve(direct, parse_ad(other))[1]


def test_the_attributes_that_can_be_read_are_found_and_no_others():
    """Also those read by expressions of the rows, and of the other ad itself."""
    index = DependencyIndex(ROWS)
    for on_rows, text, other, names in [
        (False, "TARGET.Memory >= MY.Ask", "[Ask = 1; X = 2]", ("ask",)),
        (True, "MY.Memory >= TARGET.Ask", "[Ask = 1]", ("ask",)),
        (True, "MY.Start == 1", "[Owner = 1]", ("owner",)),
        (False, "MY.Ask", "[Ask = Half + TARGET.Start; Half = 3]", ("ask", "half", "owner")),
        (False, "TARGET.Memory > 5", "[Memory = 3]", ()),
    ]:
        direct = index.without_other_ad(parse(text), on_rows=on_rows, shadowed=False)
        assert index.resolve(direct, parse_ad(other))[0].names == names


def test_values_differ_by_type_and_tree_and_by_nothing_else():
    """The spelling of names, and attributes that are not read, make no difference."""
    index = DependencyIndex(ROWS)
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
    values = [_values(index, "MY.Ask", f"[Ask = {cell}; Half = 2]") for cell in cells]
    assert len(set(values)) == len(cells)
    assert _values(index, "MY.Ask", "[]") not in values
    assert _values(index, "my.ASK", "[X = 5; aSK = half; hALF = 2]") == values[cells.index("Half")]
    assert _values(index, "MY.Ask", "[Ask = Half; Half = 3]") != values[cells.index("Half")]
    assert _values(index, "MY.Ask", "[Ask = (1)]") == values[0]
