"""The beginning of an expression or a value as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expressions import expressions
from negotiator.classad import evaluate, parse, unparse, unparse_value
from negotiator.classad.context import excerpt_value
from negotiator.classad.syntax import Binary, Literal, excerpt, shorten


@given(text=expressions(), most=st.integers(5, 60))
def test_it_is_the_beginning_of_the_whole(text, most):
    """The whole where there is room for it, else three dots at the end."""
    expr = parse(text)
    assert excerpt(expr, most) == shorten(unparse(expr), most)
    assert len(excerpt(expr, most)) <= most


@pytest.mark.parametrize(
    "text",
    [
        '"' + "é" * 99 + '"',
        "x" * 99,
        "strcat(" + ", ".join(["A"] * 99) + ")",
        "{" + ", ".join(["A"] * 99) + "}",
        "[" + "; ".join(f"A{number} = 1" for number in range(10, 99)) + "]",
    ],
)
def test_whatever_is_long(text):
    """A string, a name, the arguments of a call, a list or a record."""
    expr = parse(text)
    assert excerpt(expr, 30) == shorten(unparse(expr), 30)
    assert excerpt(expr, 30).endswith("...")


def test_what_is_not_shown_is_not_looked_at():
    """The whole text of this one would never be written."""
    expr = Literal(1)
    for _ in range(200):
        expr = Binary("+", expr, expr)
    assert excerpt(expr, 20) == "1 + 1 + 1 + 1 + 1..."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "1.500000000000000E+00"),
        ('"ab" "cd"', '"abcd"'),
        ("{1, A}", "{ 1,A }"),
        ("[b = 1; a = 2]", "[ a = 2; b = 1 ]"),
        ("[" + "; ".join(f"A{number} = 1" for number in range(9)) + "]", "an ad of 9 attributes"),
        ("undefined", "undefined"),
    ],
)
def test_values(text, expected):
    """Of an ad with many attributes the number of them."""
    assert excerpt_value(evaluate(parse(text)), 40) == expected


def test_long_strings_are_cut():
    """They have no closing quote then."""
    value = "a" * 100
    assert excerpt_value(value, 10) == '"aaaaaa...'
    assert excerpt_value(value, 102) == unparse_value(value)
