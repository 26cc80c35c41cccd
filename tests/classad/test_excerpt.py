"""Short texts of expressions and values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expressions import expressions
from negotiator.classad import evaluate, parse, unparse, unparse_value
from negotiator.classad.context import excerpt_value
from negotiator.classad.syntax import Binary, Literal, excerpt, shorten


@given(text=expressions(), most=st.integers(5, 60))
def test_an_excerpt_is_a_prefix(text, most):
    """An excerpt is the whole text if it fits, otherwise its beginning and three dots."""
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
def test_long_parts_are_cut(text):
    """Long strings, names, argument lists, lists and records are cut."""
    expr = parse(text)
    assert excerpt(expr, 30) == shorten(unparse(expr), 30)
    assert excerpt(expr, 30).endswith("...")


def test_hidden_parts_are_not_printed():
    """An excerpt of a tree takes little time even if its whole text would be too long to print."""
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
    """The excerpt of a value is its text; of a large ad it is the number of attributes."""
    assert excerpt_value(evaluate(parse(text)), 40) == expected


def test_long_strings_are_cut():
    """A long string is cut and has no closing quote."""
    value = "a" * 100
    assert excerpt_value(value, 10) == '"aaaaaa...'
    assert excerpt_value(value, 102) == unparse_value(value)
