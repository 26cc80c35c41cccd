"""Finds invalid calls: unknown functions, wrong numbers of arguments, invalid patterns, numbers that are too large."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from negotiator.classad.functions import FUNCTIONS, function_names, wrong_calls
from negotiator.classad.lint.finding import Finding, LintCode
from negotiator.classad.lint.results import bare, is_bad_pattern, takes_pattern
from negotiator.classad.lint.typed_expression import TypedExpression, parts
from negotiator.classad.syntax import LITERAL, Attr, Call, Literal, fold, tokenize
from negotiator.records.text import printable, suggest

_MAX_SHOWN: Final = 60
_DIGITS: Final = re.compile(r"[0-9]+(?![.0-9eE])")


def calls(typed: TypedExpression) -> Iterator[Finding]:
    """Find calls that are always an error, and patterns that are invalid or come from an ad."""
    for node in typed.nodes:
        if not isinstance(node, Call):
            continue
        function = FUNCTIONS.get(fold(node.name))
        if function is None or not function.accepts(len(node.args)):
            yield _wrong(node)
        elif takes_pattern(fold(node.name)):
            yield from _pattern(node, typed)


def _wrong(node: Call) -> Finding:
    name, message = next(wrong_calls(node))
    if fold(name) in FUNCTIONS:
        return Finding(LintCode.WRONG_ARGUMENTS, node, f"{message}: the call is always an error")
    hint = suggest(name, function_names(), listed=False)
    return Finding(
        LintCode.UNKNOWN_FUNCTION, node, f"{printable(message)}: the call is always an error", hint
    )


def _pattern(node: Call, typed: TypedExpression) -> Iterator[Finding]:
    pattern = node.args[0]
    if is_bad_pattern(fold(node.name), [typed.value_of(arg) for arg in node.args]):
        message = f"{typed.shown(pattern)} is not a valid regular expression: {node.name} never matches"
        yield Finding(LintCode.BAD_PATTERN, node, message, _escaping(typed.value_of(pattern).value))
    elif typed.value_of(pattern).value is None and any(isinstance(part, Attr) for part in parts(pattern)):
        message = f"the pattern {typed.shown(pattern)} comes from an ad: the author of the ad decides which texts match"
        yield Finding(LintCode.PATTERN_FROM_AD, node, message, _swapped(node, typed))


def _escaping(pattern: object) -> str:
    if isinstance(pattern, str) and pattern[:1] in {"*", "+", "?"}:
        return f"a regular expression is not a file wildcard: write .{pattern[0]} for any characters"
    return ""


def _swapped(node: Call, typed: TypedExpression) -> str:
    second = bare(node.args[1])
    if isinstance(second, Literal) and isinstance(second.value, str):
        return f"the pattern comes first: {node.name}({typed.shown(second)}, {typed.shown(node.args[0])})"
    return ""


def numbers(text: str) -> Iterator[Finding]:
    """Find integers in a text with more than 64 bits, which are read as 0."""
    for kind, value, start in tokenize(text, old=False):
        if kind != LITERAL or value != Literal(0):
            continue
        digits = _DIGITS.match(text, start + (text[start] == "-"))
        if digits is not None and digits[0].strip("0"):
            message = f"{digits[0][:_MAX_SHOWN]} is read as 0: an integer has 64 bits"
            hint = "write it as a real: with .0 at its end"
            yield Finding(LintCode.NUMBER_TOO_LARGE, value, message, hint, span=(start, digits.end()))
