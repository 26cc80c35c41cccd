"""Ads: names without case, order, shared shapes, typed access and repr."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import UNDEFINED, Ad, parse, parse_ad
from negotiator.classad.syntax import Attr, Literal, fold


def test_mapping():
    """An ad keeps order and spelling, and looks names up without case."""
    ad = Ad([("Name", "slot1@host"), ("Cpus", 4), ("Rank", Attr("KFlops"))])
    assert ad.names() == ("Name", "Cpus", "Rank")
    assert list(ad) == ["Name", "Cpus", "Rank"]
    assert ad.get("CPUS") == Literal(4)
    assert ad.get("rank") == Attr("KFlops")
    assert ad.get("Memory") is None
    assert "nAME" in ad
    assert "Memory" not in ad
    assert 5 not in ad
    assert len(ad) == 3
    assert dict(ad.items())["Rank"] == Attr("kflops")


def test_duplicates():
    """Of several attributes of one name the last counts, in the place and spelling of the first."""
    ad = parse_ad("[a = 1; b = 2; A = 3]")
    assert [(name, expr) for name, expr in ad.items()] == [("a", Literal(3)), ("b", Literal(2))]


@given(st.lists(st.tuples(st.sampled_from(["a", "A", "b", "Cc", "cC", "É", "é", "K"]), st.integers(0, 9))))
def test_like_a_dictionary(items):
    """An ad has the same items as a dictionary of names in lower case."""
    expected = {fold(name): value for name, value in items}
    ad = Ad(items)
    assert {fold(name): expr.value for name, expr in ad.items()} == expected
    assert all(ad.get(name) == Literal(expected[fold(name)]) for name, _ in items)


def test_only_ascii_has_case():
    """A letter that looks like an ASCII one, or is its lower case in Unicode, is another letter."""
    ad = Ad([("\N{KELVIN SIGN}", 1)])
    assert "k" not in ad
    assert "\N{KELVIN SIGN}" in ad


def test_project():
    """A projection has the named attributes in the order of the ad."""
    ad = parse_ad("[a = 1; b = 2; c = 3]")
    assert list(ad.project(["C", "a", "x"]).items()) == [("a", Literal(1)), ("c", Literal(3))]
    copied = pickle.loads(pickle.dumps(ad.project(["c"])))  # noqa: S301 - made here
    assert list(copied.items()) == [("c", Literal(3))]


def test_with_items():
    """with_items returns a new ad and does not change the old one."""
    ad = parse_ad("[a = 1; b = 2]")
    assert list(ad.with_items([("B", 5), ("c", parse("x"))]).items()) == [
        ("a", Literal(1)),
        ("b", Literal(5)),
        ("c", Attr("x")),
    ]
    assert ad.get("b") == Literal(2)


def test_shape_is_shared():
    """Ads with the same names share their shape."""
    one, other = (parse_ad(f"[Name = {name}; Cpus = 1]") for name in (1, 2))
    assert one.names() is other.names()


def test_typed_getters():
    """string, integer, real and boolean return values of their kind only, otherwise the default."""
    ad = parse_ad('[s = "x"; i = 1; r = 2.5; b = true; sum = i + 1; other = TARGET.x]')
    assert ad.string("S") == "x"
    assert ad.string("i") is None
    assert ad.string("i", "default") == "default"
    assert ad.integer("i") == 1
    assert ad.integer("sum") == 2
    assert ad.integer("b") is None
    assert ad.integer("r", 7) == 7
    assert ad.real("r") == 2.5
    assert ad.real("i") == 1.0
    assert ad.real("b") is None
    assert ad.boolean("b") is True
    assert ad.boolean("i") is None
    assert ad.boolean("nosuch", default=False) is False


def test_evaluate():
    """An attribute is evaluated in its ad alone, or with another ad as TARGET."""
    ad = parse_ad("[x = 1; sum = x + TARGET.y]")
    assert ad.evaluate("sum") is UNDEFINED
    assert ad.evaluate("sum", parse_ad("[y = 2]")) == 3
    assert ad.evaluate("nosuch", parse_ad("[nosuch = 2]")) is UNDEFINED


def test_repr_shows_no_values():
    """The repr of an ad has its name and size but no values, which may be long or secret."""
    assert repr(parse_ad('[Name = "slot1@host"; ClaimId = "secret"]')) == "<Ad slot1@host, 2 attributes>"
    assert repr(parse_ad('[ClaimId = "secret"]')) == "<Ad 1 attributes>"


def test_invalid_attributes():
    """An attribute that is neither an expression nor a constant, or an integer beyond 64 bits, is refused."""
    with pytest.raises(TypeError, match="not list"):
        Ad([("a", [1])])
    with pytest.raises(ValueError, match="64 bits"):
        Ad([("a", 2**63)])


NAMED = st.dictionaries(st.sampled_from(["a", "B", "c", "D", "e"]), st.none() | st.integers(0, 9))


@given(NAMED, NAMED)
def test_replaced_attributes_come_last_and_others_stay(own, values):
    """A name in other case is the same attribute; None removes it; of a name that is given twice the last counts."""
    ad = Ad([(name, value) for name, value in own.items() if value is not None])
    twice = {name.swapcase(): value for name, value in values.items()} | values
    found = ad.replaced(twice)
    kept = [(name, expr) for name, expr in ad.items() if fold(name) not in map(fold, values)]
    assert list(found.items())[: len(kept)] == kept
    wanted = {fold(name): Literal(value) for name, value in values.items() if value is not None}
    assert {fold(name): expr for name, expr in list(found.items())[len(kept) :]} == wanted
