"""Functions on hostile input: no hang, no excessive memory, no exception."""

import pytest

from negotiator.classad import ERROR, Ad, evaluate, parse
from negotiator.classad.context import EvaluationFailed
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.functions.regex import MAX_SUBJECT
from negotiator.classad.functions.registry import MAX_ITEMS
from negotiator.classad.syntax import Call, ListExpr, Literal
from negotiator.classad.values import MAX_BYTES


def call(name, *args):
    """Return the value of a call with constants."""
    return evaluate(Call(name, tuple(Literal(arg) for arg in args)))


@pytest.mark.parametrize(
    ("pattern", "subject"),
    [
        ("(a+)+$", "a" * 40 + "!"),
        ("(*LIMIT_MATCH=4000000000)(*LIMIT_HEAP=4000000000)(a+)+$", "a" * 40 + "!"),
        ("(a|a)*[bc]", "a" * 20_000),
        ("a*a*[bc]", "a" * 10_000),
        ("(?:a*a*[bc])?x|b", "a" * 10_000),
        ("(a*)*[bc]", "a" * MAX_SUBJECT),
        ("(?:(?:(?:a?){200}){200})b", "a"),
        ("(" * 5_000 + ")" * 5_000, "a"),
        ("a" * (MAX_SUBJECT + 1), "a"),
        ("a", "b" * (MAX_SUBJECT + 1)),
    ],
)
def test_patterns_that_need_too_much_work(pattern, subject):
    """Such a match is an error within seconds; in a list such an element does not match."""
    assert call("regexp", pattern, subject) is ERROR
    assert call("replaceall", pattern, subject, "x") is ERROR
    assert evaluate(parse("regexpMember(P, {S})"), Ad([("P", pattern), ("S", subject)])) is False


@pytest.mark.parametrize(
    ("pattern", "subject", "found"),
    [
        (".*FOO=bar", "x" * 30_000, False),
        ("(?s).*FOO=bar", "x=\n" * 10_000, False),
        ("FOO=.*PATH=/bin", "A=1 " * 5_000 + "FOO=1 " + "B=2 " * 1_000 + "PATH=/bin", True),
        ("FOO=.*PATH=/bin", "A=1 " * 5_000 + "FOO=1 " + "B=2 " * 1_000, False),
        ("^(?:[a-z]+,)*end$", "abc," * 2_000 + "end", True),
        ("(a+)+$", "a" * 20 + "!", False),
    ],
)
def test_patterns_that_need_some_work(pattern, subject, found):
    """Long subjects and some backtracking give the same value as in HTCondor."""
    assert call("regexp", pattern, subject) is found


def test_strings_have_a_length_limit():
    """A string beyond MAX_BYTES is an error, so that doubling a string ends."""
    doubled = [(f"S{n}", parse(f"strcat(S{n - 1}, S{n - 1})")) for n in range(1, 8)]
    doubling = Ad([("S0", "x" * (MAX_BYTES // 64)), *doubled])
    assert len(doubling.string("S6")) == MAX_BYTES
    assert doubling.evaluate("S7") is ERROR
    half = "x" * (MAX_BYTES // 2)
    assert call("join", half, "", "a", "b") == "a" + half + "b"
    assert call("join", half, "a", "b", "c", "d") is ERROR
    assert call("replaceall", "a", "a" * MAX_SUBJECT, "x" * 100) == "x" * (100 * MAX_SUBJECT)
    assert call("replaceall", "a", "a" * MAX_SUBJECT, "x" * 200) is ERROR
    assert call("replaceall", "a", "a" * MAX_SUBJECT, r"\0" * 10_000) is ERROR


def test_lists_have_a_length_limit():
    """A split into more than MAX_ITEMS items is an error."""
    assert len(call("split", "a," * MAX_ITEMS).items) == MAX_ITEMS
    assert call("split", "a," * (MAX_ITEMS + 1)) is ERROR
    assert call("argsToList", "a " * (MAX_ITEMS + 1)) is ERROR


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize(
    "text", ["\udc80", chr(0xD800), "a\0b", "9" * 100_000, "[" * 1000, "%" * 2000, "'" * 2001]
)
def test_functions_of_odd_strings(name, text):
    """Every function has a value or fails for invalid UTF-8, a lone surrogate, a NUL and a long number."""
    for count in range(5):
        try:
            call(name, *[text] * count)
        except EvaluationFailed:
            continue


def test_invalid_utf8_is_preserved():
    """Invalid UTF-8 is counted and compared as bytes, and preserved."""
    assert call("size", "\udce9a") == 2
    assert call("strcat", "\udcc3", "\udca9") == "é"
    assert call("substr", "é", 1) == "\udca9"
    assert call("regexp", "^.a$", "\udce9a") is True
    assert call("regexp", "(*UTF)a", "\udce9a") is ERROR
    assert call("strcmp", "\udce9", "é") == 1


@pytest.mark.parametrize(
    ("call", "times"),
    [
        ("size(Z)", 100),
        ('strcmp(Z, "b")', 100),
        ("stringListSize(Z)", 20),
        ("size(split(X))", 100),
        ("size(eval(Y))", 20),
        ("sum(L)", 250),
        ('size(join(",", M))', 100),
        ("size(string(L))", 50),
        ("random(2)", 300_000),
    ],
)
def test_repeated_work_is_charged(call, times):
    """A long call charges many steps: once it has a value, many times the evaluation is an error."""
    ad = Ad(
        [
            ("Z", "a " * (MAX_BYTES // 8)),
            ("X", "a " * (MAX_BYTES // 64)),
            ("Y", '"' + "a" * (MAX_BYTES // 8) + '"'),
            ("L", ListExpr(tuple([Literal(1)] * 50_000))),
            ("M", ListExpr(tuple([Literal("a" * 10_000)] * 100))),
        ]
    )
    again = ListExpr(tuple([parse(call)] * times))
    assert evaluate(parse(call), ad) is not ERROR
    assert evaluate(Call("sum", (again,)), ad) is ERROR
