"""Calls that go wrong: functions that there are not, patterns that are none, numbers that do not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from negotiator.classad.functions import FUNCTIONS, function_names, wrong_calls
from negotiator.classad.lint.finding import Finding, LintCode
from negotiator.classad.lint.reading import TypedExpression, parts
from negotiator.classad.lint.results import bare, is_bad_pattern, takes_pattern
from negotiator.classad.syntax import LITERAL, Attr, Call, Literal, fold, tokenize
from negotiator.records.text import printable, suggest

_MAX_SHOWN: Final = 60
_DIGITS: Final = re.compile(r"[0-9]+(?![.0-9eE])")


def calls(reading: TypedExpression) -> Iterator[Finding]:
    """Find calls that can only give an error, and patterns that are none or that an ad decides on."""
    for node in reading.nodes:
        if not isinstance(node, Call):
            continue
        function = FUNCTIONS.get(fold(node.name))
        if function is None or not function.accepts(len(node.args)):
            yield _wrong(node)
        elif takes_pattern(fold(node.name)):
            yield from _pattern(node, reading)


def _wrong(node: Call) -> Finding:
    name, message = next(wrong_calls(node))
    if fold(name) in FUNCTIONS:
        return Finding(LintCode.WRONG_ARGUMENTS, node, f"{message}: the call is always an error")
    hint = suggest(name, function_names(), listed=False)
    return Finding(
        LintCode.UNKNOWN_FUNCTION, node, f"{printable(message)}: the call is always an error", hint
    )


def _pattern(node: Call, reading: TypedExpression) -> Iterator[Finding]:
    pattern = node.args[0]
    if is_bad_pattern(fold(node.name), [reading.of(arg) for arg in node.args]):
        message = f"{reading.shown(pattern)} is no regular expression: {node.name} finds nothing with it"
        yield Finding(LintCode.BAD_PATTERN, node, message, _escaping(reading.of(pattern).value))
    elif reading.of(pattern).value is None and any(isinstance(part, Attr) for part in parts(pattern)):
        message = f"the pattern {reading.shown(pattern)} comes from an ad: whoever writes that decides what is found"
        yield Finding(LintCode.PATTERN_FROM_AD, node, message, _swapped(node, reading))


def _escaping(pattern: object) -> str:
    if isinstance(pattern, str) and pattern[:1] in {"*", "+", "?"}:
        return f"a pattern is no wildcard of files: write .{pattern[0]} for any characters"
    return ""


def _swapped(node: Call, reading: TypedExpression) -> str:
    second = bare(node.args[1])
    if isinstance(second, Literal) and isinstance(second.value, str):
        return f"the pattern comes first: {node.name}({reading.shown(second)}, {reading.shown(node.args[0])})"
    return ""


def numbers(text: str) -> Iterator[Finding]:
    """Find integers of a text that have more than 64 bits: they are 0."""
    for kind, value, start in tokenize(text, old=False):
        if kind != LITERAL or value != Literal(0):
            continue
        digits = _DIGITS.match(text, start + (text[start] == "-"))
        if digits is not None and digits[0].strip("0"):
            message = f"{digits[0][:_MAX_SHOWN]} is read as 0: an integer has 64 bits"
            hint = "write it as a real: with .0 at its end"
            yield Finding(LintCode.NUMBER_TOO_LARGE, value, message, hint, span=(start, digits.end()))
