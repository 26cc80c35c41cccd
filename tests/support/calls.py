"""Calls of functions as text: tables of calls, random calls, and their values in HTCondor's library."""

import atexit

import pytest
from hypothesis import strategies as st

from negotiator.classad import ERROR, UNDEFINED, Environment, ParseError, evaluate, parse, unparse_value
from negotiator.classad.context import EvaluationFailed
from negotiator.classad.functions.registry import as_string
from negotiator.classad.values import RelTime
from oracle import Oracle, available, real_text

NOON = Environment(now=1_700_000_000.0)
needs_htcondor = pytest.mark.skipif(not available(), reason="the htcondor package is not installed")
_htcondor = Oracle()
atexit.register(_htcondor.close)


def cases(table):
    """Return the lines ``call => value`` of a table as pairs of text."""
    return [tuple(line.split(" => ")) for line in table.strip().splitlines() if not line.startswith("#")]


def value(text):
    """Return the value of a call; error if the evaluation fails."""
    try:
        return evaluate(parse(text), env=NOON)
    except EvaluationFailed:
        return ERROR


def spelled(text):
    """Return the kind and the text of a value, which are equal only for equal values of one kind."""
    result = value(text)
    return type(result).__name__, repr(result) if isinstance(result, float | str) else unparse_value(result)


def ours(text):
    """Return the value of a call in the form of ``Oracle.ask``."""
    try:
        result = value(text)
    except ParseError:
        return ["parse", ""]
    return words(result)


def words(result):
    """Return a value in the form of ``Oracle.ask``."""
    if result is UNDEFINED or result is ERROR:
        return [result.value, ""]
    if isinstance(result, float):
        return ["float", real_text(result)]
    if isinstance(result, bool | int | str):
        return [type(result).__name__, str(result)]
    return ["reltime" if isinstance(result, RelTime) else "other", as_string(result)]


def agrees(text):
    """True if HTCondor's library has the same value, or crashes."""
    theirs = _htcondor.ask(text)
    return theirs[0] == "crash" or theirs == ours(text)


def quoted(text):
    """Return a string literal."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\v": "\\v", "\f": "\\f"}
    return '"' + "".join(escapes.get(character, character) for character in text) + '"'


def texts(alphabet, most=10):
    """Return a strategy for string literals of these characters."""
    return st.text(alphabet, max_size=most).map(quoted)


def calls(names, *arguments):
    """Return a strategy for calls of one of the functions, with one argument from each strategy."""
    return st.builds(
        lambda name, args: f"{name}({','.join(args)})", st.sampled_from(names), st.tuples(*arguments)
    )


def up_to(strategy, most):
    """Return a strategy for list literals."""
    return st.lists(strategy, max_size=most).map(lambda items: "{" + ",".join(items) + "}")


NUMBERS = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1).map(str),
    st.integers(-20, 20).map(str),
    st.sampled_from(
        ["2147483648", "-2147483649", "4294967297", 'real("INF")', 'real("-INF")', 'real("NaN")', "-0.0"]
    ),
    st.floats(-1e20, 1e20).map(repr),
    st.sampled_from([0.5, -0.5, 1.5, 2.5, -2.5, 1e308]).map(repr),
)
NUMBER_TEXTS = st.builds(
    lambda blank, sign, head, tail: quoted(blank + sign + head + tail),
    st.sampled_from(["", " ", "\t"]),
    st.sampled_from(["", "+", "-"]),
    st.sampled_from(
        ["", "0", "0x", "0X1", "12", ".5", "5.", ".", "1e", "inf", "INFinity", "infi", "nan", "0x.8", "0x1p"]
    ),
    st.text("0123456789.eExXpP+-abn() ", max_size=4),
)
OTHERS = st.sampled_from(
    [
        "true",
        "false",
        "undefined",
        "error",
        '""',
        '"a"',
        "{}",
        "{1,2}",
        "[]",
        "[a=1]",
        "relTime(90061)",
        "relTime(-3.5)",
        "absTime(86400)",
        "absTime(5,3600)",
    ]
)
ANYTHING = st.one_of(NUMBERS, NUMBER_TEXTS, OTHERS)
