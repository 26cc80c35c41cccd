"""Printing of trees and values, compared with HTCondor's library if it is installed."""

from __future__ import annotations

import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import ERROR, UNDEFINED, ParseError, Side, parse, parse_old, unparse, unparse_value
from negotiator.classad.syntax import (
    PRECEDENCE,
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
    tree_key,
    unparse_indented,
    unparse_old,
)
from negotiator.classad.values import AbsTime, RelTime


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a+b*(c)", "a + b * (c)"),
        ("a =?= b =!= c", "a is b isnt c"),
        ("!a && - b", " !a &&  -b"),
        ("1--1", "1 - -1"),
        ("a?b:c", "a ? b : c"),
        ("a?:b", "a ?: b"),
        ("F( a ,b;c )", "F(a,b,c)"),
        ("{1,{},a}", "{ 1,{  },a }"),
        ("[ccc=1;B=2;a=3;b=4]", "[ a = 3; B = 4; ccc = 1 ]"),
        ("[]", "[  ]"),
        ("'is'.'a b'.'x'", "'is'.'a b'.x"),
        ("parent + x.parent + parent(1)", "'parent' + x.parent + parent(1)"),
        (".a[0]", ".a[0]"),
        ("1 .a", "1 .a"),
        ("TRUE is UNDEFINED", "true is undefined"),
        ("1e3", "1.000000000000000E+03"),
        ("-.0", "-0.0"),
        ("1e400", 'real("INF")'),
        (r'"\a\"\'\\\303\251\1"', r'"\a\"' + r"'" + r'\\\303\251\001"'),
        (r"'a\'b\"'", "'a\\'b\"'"),
        ('absTime("1970-01-01T00:00:00Z")', 'absTime("1970-01-01T00:00:00-00:00")'),
    ],
)
def test_text(text, printed):
    """An expression is printed as in HTCondor."""
    assert unparse(parse(text)) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a is b", "a =?= b"),
        ("1e22 + 0.1 + 100.0", "1E+22 + 0.1 + 100.0"),
        (r'"C:\dir \"x\""', r'"C:\dir \"x\""'),
        ("[b = 2; a = 1]", "[ a = 1; b = 2 ]"),
    ],
)
def test_old_text(text, printed):
    """The long form has its own operators, reals and strings."""
    assert unparse_old(parse_old(text)) == printed


def test_indented():
    """The function ``unparse`` prints lists and records over several lines."""
    assert unparse_indented(parse("{1, [a = 2; b = 3]}")) == (
        "\n   {\n      1,\n      \n          [\n              a = 2; \n              b = 3\n          ]\n   }"
    )


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (UNDEFINED, "undefined"),
        (ERROR, "error"),
        (True, "true"),
        (1, "1"),
        (1.0, "1.000000000000000E+00"),
        (float("-inf"), 'real("-INF")'),
        (float("nan"), 'real("NaN")'),
        ('a"b', r'"a\"b"'),
        (AbsTime(0, -3600), 'absTime("1969-12-31T23:00:00-01:00")'),
        (RelTime(93_784.0), 'relTime("1+02:03:04")'),
    ],
)
def test_value(value, printed):
    """A value is printed as a constant."""
    assert unparse_value(value) == printed


def test_bound():
    """A bound scope is printed as it was written; its key differs."""
    bound = Attr("x", AdRef(Side.TARGET))
    assert unparse(bound) == "TARGET.x"
    assert tree_key(bound) != tree_key(parse("TARGET.x"))


def test_long_chain():
    """A chain of thousands of operators is printed without recursion."""
    text = "a" + " && a" * 20_000
    assert unparse(parse(text)) == text
    assert tree_key(parse(text)) == tree_key(parse(text.upper()))


# Trees as the parser builds them, with a Paren wherever the grammar needs one.

NAMES = st.one_of(
    st.sampled_from(
        ["a", "B", "MY", "TARGET", "x1", "_", "is", "true", "parent", "a b", "9", "", "é", "q'\"\\"]
    ),
    st.text(string.ascii_letters + "_", min_size=1, max_size=6),
)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
CONSTANTS = st.one_of(
    st.sampled_from([True, False, UNDEFINED, ERROR]),
    st.integers(0, 2**63 - 1),
    st.integers(-(2**63), -1),
    st.floats(-1e300, 1e300).map(lambda value: float(f"{value:.15E}")),
    TEXTS,
).map(Literal)


def trees(inner):
    """Return a strategy for nodes over ``inner``, with operators in parentheses."""
    closed = inner.map(lambda tree: tree if isinstance(tree, PRIMARY) else Paren(tree))
    return st.one_of(
        st.builds(Binary, st.sampled_from(sorted(PRECEDENCE)), closed, closed),
        st.builds(unary, st.sampled_from("-+!~"), closed),
        st.builds(Conditional, closed, inner, inner),
        st.builds(Elvis, closed, closed),
        st.builds(Attr, NAMES, closed),
        st.builds(Subscript, closed, inner),
        st.builds(Call, NAMES, st.lists(inner, max_size=3).map(tuple)),
        st.builds(ListExpr, st.lists(inner, max_size=3).map(tuple)),
        st.builds(RecordExpr, st.lists(st.tuples(st.sampled_from(["a"]), inner), max_size=1).map(tuple)),
        st.builds(Paren, inner),
    )


PRIMARY = (Literal, Attr, Paren, Subscript, Call, ListExpr, RecordExpr)


def unary(op, operand):
    """Return a number in parentheses, since a minus before it would become part of it."""
    first = operand
    while isinstance(first, Attr | Subscript):
        first = first.scope if isinstance(first, Attr) else first.container
    number = isinstance(first, Literal) and isinstance(first.value, int | float)
    return Unary(op, Paren(operand) if number else operand)


TREES = st.recursive(
    st.one_of(CONSTANTS, st.builds(Attr, NAMES), st.builds(Attr, NAMES, absolute=st.just(True))),
    trees,
    max_leaves=12,
)


@given(TREES)
def test_round_trip(tree):
    """Printed text parses to the same tree."""
    assert parse(unparse(tree)) == tree


@given(TREES, TREES)
def test_key(one, other):
    """Two trees have the same key exactly if they are equal."""
    assert (tree_key(one) == tree_key(other)) == (one == other)
    assert tree_key(one) == tree_key(parse(unparse(one)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("1", "true"),
        ("0.0", "-0.0"),
        ('"a"', '"A"'),
        ("(a)", "a"),
        ("0.1", "0.10000000000000002"),
        ("undefined", '"UNDEFINED"'),
        (".a", "a"),
        ("-a", "+a"),
        ("a - b", "a + b"),
        ("f(a)", "g(a)"),
        ("{{a}, b}", "{{a, b}}"),
        ("[a = 1]", "[b = 1]"),
    ],
)
def test_distinct_keys(one, other):
    """Different spellings, and constants that Python considers equal, have different keys."""
    assert tree_key(parse(one)) != tree_key(parse(other))


def test_same_keys():
    """Keys ignore the case of names."""
    assert tree_key(parse("My.Abc + F(1)")) == tree_key(parse("MY.aBC + f(1)"))


@pytest.fixture(scope="module")
def oracle():
    """HTCondor's library in the mode of the daemons."""
    if not sys.platform.startswith("linux"):
        pytest.skip("HTCondor's library is there for Linux only")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONDOR_CONFIG", "/dev/null")
        pytest.importorskip("htcondor2")  # first, or the library uses another dialect
        return pytest.importorskip("classad2")


def printed_by(oracle, text):
    """Return the text as HTCondor prints it, None if it does not parse."""
    try:
        return str(oracle.ExprTree(text))
    except oracle.ClassAdException:
        return None


def printed_here(text):
    try:
        return unparse_indented(parse(text))
    except ParseError:
        return None


@given(tree=TREES)
def test_oracle_trees(oracle, tree):
    """HTCondor reads what is printed here and prints it alike, except for quotes and a blank that it needs itself."""
    text = unparse(tree)
    assert loosely(printed_by(oracle, text)) == loosely(printed_here(text))


TOKENS = [
    *("a", "b", "MY", "is", "isnt", "true", "f", "1", "0", ".5", "1.5", "2e3", "007", "1e", "1.", "08"),
    *("0x1F", "0X1F.8", "0x", ".8e3", "x", "-08", "-07", "-0x1F.25", "..5", 'relTime("1:30.25")'),
    *("(", ")", "[", "]", "{", "}", ",", ".", "?", ":", "?:", "=", *PRECEDENCE, "!", "~"),
    *('"s"', r'"\n"', r'"\0"', '"', "/*c*/", "//c\n", "$", "\\", ""),
]


@given(parts=st.lists(st.sampled_from(TOKENS), min_size=1, max_size=8), blank=st.sampled_from(["", " "]))
def test_oracle_tokens(oracle, parts, blank):
    """HTCondor accepts the texts accepted here, and reads them alike."""
    text = blank.join(parts)
    if balance(text) < 0:
        return  # ExprTree mistakes an extra bracket for the one it wraps around the text
    assert loosely(printed_by(oracle, text)) == loosely(printed_here(text))


def loosely(text):
    if text is None:
        return None
    for written, same in (("'", ""), ("\\", ""), (" .", "."), ("é", "303251")):
        text = text.replace(written, same)
    return text


def balance(text):
    depth = lowest = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        lowest = min(lowest, depth)
    return lowest
