"""Conjuncts, references and the binding of scopes."""

from __future__ import annotations

import pytest

from negotiator.classad import (
    Ad,
    References,
    Side,
    bind,
    conjuncts,
    evaluate,
    parse,
    parse_ad,
    references,
    unparse,
)
from negotiator.classad.syntax import AdRef, Attr, safe_conjuncts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", ["a"]),
        ("a && b", ["a", "b"]),
        ("(a && b) && ((c && (d)))", ["a", "b", "c", "d"]),
        ("(a || b) && c", ["a || b", "c"]),
        ("a || b && c", ["a || b && c"]),
        ("!(a && b)", [" !(a && b)"]),
        ("a && b ? c : d", ["a && b ? c : d"]),
    ],
)
def test_conjuncts(text, parts):
    """An expression is split at its top-level &&, also inside parentheses."""
    assert [unparse(part) for part in conjuncts(parse(text))] == parts


@pytest.mark.parametrize(
    "text",
    [
        "a && countMatches(x, y) > 1",
        "unresolved(a) is undefined && b",
        "a" + " && a" * 300,
    ],
)
def test_expressions_that_are_not_split(text):
    """An expression is not split if a part may change the scope of the rest, or near the level limit."""
    assert safe_conjuncts(parse(text)) == (parse(text),)


def test_expressions_that_are_split():
    """Other expressions are split into their conjuncts."""
    for text in ("(TARGET.a) && b", "a && countMatches(MY.x, TARGET.y) > 1 && b"):
        assert safe_conjuncts(parse(text)) == conjuncts(parse(text))


def refs(my=(), target=(), unscoped=(), *, dynamic=False):
    return References(frozenset(my), frozenset(target), frozenset(unscoped), dynamic)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", refs()),
        ("MY.A + self.b + TARGET.C + other.d + E", refs("ab", "cd", "e")),
        ("f(a, {b}, [x = c]) ? d[e] : !(g ?: h)", refs(unscoped="abcdegh")),
        ("(MY).a", refs("a")),
        # a nested ad may lack the attribute, and the ads around it may have it
        ("MY.a.b", refs("ab")),
        ("TARGET.a[i].b", refs(target="ab", unscoped="i")),
        ("a.b", refs(unscoped="ab")),
        ("f(a).b", refs("b", "b", "a")),
        ("MY.TARGET.a", refs(["target", "a"], dynamic=True)),
        ("MY", refs(dynamic=True)),
        ('TARGET["a"]', refs(dynamic=True)),
        ("TARGET[0].a", refs(target="a", dynamic=True)),
        (".a", refs(unscoped="a", dynamic=True)),
        ("LEFT.a", refs(unscoped=["left", "a"], dynamic=True)),
        ('eval("a")', refs(dynamic=True)),
        ("UNPARSE(a)", refs(unscoped="a", dynamic=True)),
        ("countMatches(a, b)", refs(unscoped="ab", dynamic=True)),
        ("debug(1)", refs()),
        ("debug(a)", refs(unscoped="a", dynamic=True)),
    ],
)
def test_references(text, expected):
    """References are grouped by scope, in lower case, and are the same in the bound tree."""
    assert references(parse(text)) == expected
    assert references(bind(parse(text))) == expected


MY, TARGET = AdRef(Side.MY), AdRef(Side.TARGET)


def test_bind():
    """Scopes are bound in any case, also as bare names; names that contain them are not."""
    assert bind(parse("my.a")) == Attr("a", MY)
    assert bind(parse("Other")) == TARGET
    assert bind(parse("a + b.c")) is parse("a + b.c")
    assert bind(parse("a.TARGET")) == parse("a.TARGET")
    assert unparse(bind(parse("f({other.a, -(self.b)}) ? [x = target.c ?: 1] : my[0]"))) == (
        "f({ TARGET.a, -(MY.b) }) ? [ x = TARGET.c ?: 1 ] : MY[0]"
    )


def test_bind_keeps_inner_meanings():
    """MY is not bound inside a record or in an expression that is evaluated in other ads."""
    assert unparse(bind(parse("[MY = 1; x = MY.y; z = TARGET.u]"))) == "[ x = MY.y; z = TARGET.u; MY = 1 ]"
    record = bind(parse("[x = MY.y; z = TARGET.u]"))
    assert dict(record.items) == {"x": Attr("y", Attr("MY")), "z": Attr("u", TARGET)}
    call = bind(parse("countMatches(MY.a > TARGET.b, MY.c)"))
    assert call.args[0].left == Attr("a", Attr("MY"))
    assert call.args[0].right == Attr("b", TARGET)
    assert call.args[1] == Attr("c", MY)


def test_bound_scope_cannot_be_hijacked():
    """An attribute called TARGET does not hide the other ad from a bound expression."""
    job = parse_ad("[TARGET = [Memory = 1000000]; MY = TARGET]")
    slot = Ad([("Memory", 16)])
    written = parse("TARGET.Memory")
    assert evaluate(written, job, slot) == 1_000_000
    assert evaluate(bind(written), job, slot) == 16


@pytest.mark.parametrize("text", ["a" + " && MY.a" * 20_000, "MY" + ".a" * 20_000, "a" + "[MY.b]" * 20_000])
def test_long_chains(text):
    """Chains of thousands of operators are analysed without recursion."""
    tree = parse(text)
    bound = bind(tree)
    assert references(bound) == references(tree)
    assert len(conjuncts(bound)) == text.count("&&") + 1
    assert safe_conjuncts(bound) == (bound,)
