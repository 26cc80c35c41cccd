"""The memo of long evaluations: the same values and steps as without it, and no repeated work."""

import sys

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from expressions import ads, expressions
from negotiator.classad import Ad, Environment, evaluate, parse, parse_ad, unparse_value
from negotiator.classad.context import AdValue, Allowance, ListValue
from negotiator.classad.syntax import Attr, Call, ListExpr, Literal

NEVER = 10**9
PLENTY = 200_000


def outcome(monkeypatch, first, text, my, target=None):
    """Return the value, its type, and the steps of an evaluation whose memo starts after ``first`` steps."""
    tree = parse(text) if isinstance(text, str) else text
    monkeypatch.setattr("negotiator.classad.context.scope.STEPS_BEFORE_MEMO", first)
    allowance = Allowance(PLENTY)
    frames = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)  # the limit that the program sets; Hypothesis lowers it
    try:
        value = evaluate(tree, my, target, Environment(now=5.0, seed=1), allowance)
    finally:
        sys.setrecursionlimit(frames)
    shown = unparse_value(value) if isinstance(value, ListValue | AdValue) else repr(value)
    return type(value).__name__, shown, PLENTY - allowance.steps


@settings(
    deadline=None, max_examples=max(500, settings().max_examples), suppress_health_check=list(HealthCheck)
)
@given(
    expressions(),
    ads("OnlyMine"),
    st.none() | ads("OnlyOther"),
    st.sampled_from(
        ["({0}) is ({0})", "sum({{{0}, A, C, {0}}})", "C ?: D ?: ({0})", "strcat({0}, A, {0}, C)"]
    ),
    st.sampled_from([0, 1, 5, 20]),
)
@example("A", "[A = B; B = A; C = B]", None, "strcat({0}, B, C, {0})", 0)
@example("A", '[A = MY["B"]; B = A ?: 1; C = B]', None, "strcat({0}, B, C, {0})", 0)
@example("L[0].q", "[A = 1; L = {[q = B]}]", "[B = 2]", "strcat({0}, countMatches(q == 2, L), {0})", 0)
@example("A", "[A = random(); B = A + A]", None, "strcat(B, B, {0}, {0})", 0)
@example(
    "countMatches(countMatches(w == 2, M) == 1, L)",
    "[L = {[q = X; M = {[w = q]}]}]",
    "[X = 2]",
    "strcat({0}, countMatches(w == 2, L[0].M), {0})",
    0,
)
def test_a_memo_changes_nothing(monkeypatch, text, my, target, shape, first):
    """Value, kind and steps are equal with and without a memo, whenever it starts."""
    sides = [None if ad is None else parse_ad(ad) for ad in (my, target)]
    whole = shape.format(text)
    assert outcome(monkeypatch, first, whole, *sides) == outcome(monkeypatch, NEVER, whole, *sides)


DOUBLING = {
    "sums": "{1} + {1}",
    "with a constant": "1 + ({1} + {1})",
    "scoped": "MY.{1} + MY.{1}",
    "the other way round": "{2} + {1}",
    "in calls": "int({1}) + ifThenElse(true, {1}, 0)",
    "in lists": "sum({{{1}, {1}}})",
    "of lists": "{{{1}, {1}}}[0] + {{{1}, {1}}}[1]",
    "by subscript": 'MY["{1}"] + MY["{1}"]',
    "by text": 'eval("{1}") + eval("{1}")',
    "of records": "[x = {1} + {1}].x",
    "through the other ad": "TARGET.{1} + TARGET.{1}",
    "with a circle": "({0} ?: 0) + (a0 ?: 0) + {1} + {1}",
}


@pytest.mark.parametrize("shape", DOUBLING.values(), ids=DOUBLING)
def test_work_that_doubles_takes_the_same_steps(monkeypatch, shape):
    """Few doubling attributes have the same value for the same steps, many are an error after the same steps."""
    for count in (6, 40):
        items = [(f"a{at}", parse(shape.format(f"a{at}", f"a{at + 1}", f"a{at + 2}"))) for at in range(count)]
        ad = Ad([*items, (f"a{count}", Literal(1)), (f"a{count + 1}", Literal(1))])
        remembered = outcome(monkeypatch, 100, "a0", ad, ad)
        assert (remembered[1] == "ERROR") == (count == 40)
        if count == 6:
            assert remembered == outcome(monkeypatch, NEVER, "a0", ad, ad)


def test_with_fewer_levels_left_a_value_is_computed_again(monkeypatch):
    """A value computed at the top is not used below 300 references if it needs the levels, nor the reverse."""
    chain = [(f"c{at}", parse(f"c{at + 1}")) for at in range(300)]
    deep = [(f"y{at}", parse(f"y{at + 1} + 0")) for at in range(60)]
    ad = Ad([*chain, ("c300", Attr("x")), ("x", parse("{y0}[0]")), *deep, ("y60", Literal(1))])
    for text, value in (
        ("strcat(x, isError(c0), x)", "1true1"),
        ("strcat(isError(c0), x, isError(c0))", "true1true"),
    ):
        outcomes = [outcome(monkeypatch, first, text, ad) for first in (0, NEVER)]
        assert outcomes[0] == outcomes[1]
        assert outcomes[0][1] == repr(value)


def test_with_deeper_nesting_a_value_is_computed_again(monkeypatch):
    """A value from outside does not hide that nested evaluations exceed their limit."""

    def sums(count, tree):
        for _ in range(count):
            tree = Call("sum", (ListExpr((tree,)),))
        return tree

    ad = Ad([("w", Attr("x")), ("x", sums(120, Literal(1))), ("y", sums(300, Attr("x")))])
    tree = Call("strcat", (Attr("w"), Attr("y")))
    outcomes = [outcome(monkeypatch, first, tree, ad) for first in (0, NEVER)]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][1] == "ERROR"
