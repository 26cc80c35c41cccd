"""Functions of regular expressions: regexp, regexpMember, regexps, replace, replaceall."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from negotiator.classad.context import EvaluationFailed, ListValue
from negotiator.classad.functions.conversions import strings
from negotiator.classad.functions.patterns import (
    CASELESS,
    DOTALL,
    EXTENDED,
    MULTILINE,
    PatternFailure,
    matches,
    replaced,
)
from negotiator.classad.functions.registry import element_values, register
from negotiator.classad.values import ERROR, MAX_BYTES, UNDEFINED, from_bytes, to_bytes, until_nul

if TYPE_CHECKING:
    from collections.abc import Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.functions.patterns import Meter
    from negotiator.classad.values import Exceptional

_SHORT_PATTERN = 1_000  # characters of a pattern that is remembered

_OPTIONS = {"i": CASELESS, "m": MULTILINE, "s": DOTALL, "x": EXTENDED}


def options_of(letters: str) -> int:
    """Return PCRE2's options for the letters i, m, s and x. Other letters are ignored."""
    if not letters:
        return 0
    return sum(flag for letter, flag in _OPTIONS.items() if letter in letters)


def _bytes(text: str) -> bytes:
    return until_nul(to_bytes(text))


_short_pattern_bytes = lru_cache(256)(_bytes)


def _pattern_bytes(pattern: str) -> bytes:
    """Return the bytes of a pattern: most calls have one that was used before."""
    return _short_pattern_bytes(pattern) if len(pattern) <= _SHORT_PATTERN else _bytes(pattern)


@register("regexp", 2, 3, metered=True)
def regexp(args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:  # noqa: ARG001
    """``regexp(pattern, s[, options])``: whether the pattern occurs in ``s``."""
    texts = _text_arguments(args)
    if not isinstance(texts, tuple):
        return texts
    pattern, subject, letters = texts
    try:
        return matches(_pattern_bytes(pattern), _bytes(subject), options_of(letters), meter)
    except PatternFailure:
        return ERROR


def _text_arguments(args: Sequence[ClassAdValue]) -> tuple[str, str, str] | Exceptional:
    texts = strings(tuple(args))
    if not isinstance(texts, tuple):
        return texts
    return texts[0], texts[1], texts[2] if len(texts) == 3 else ""


@register("regexpMember", 2, 3, metered=True)
def regexp_member(args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:
    """``regexpMember(pattern, list[, options])``: whether the pattern occurs in some element.

    If it occurs in none, an undefined element makes the value undefined. An invalid pattern occurs in none.
    """
    pattern, inside, *options = args
    if any(value is ERROR for value in args):
        return ERROR
    if any(value is UNDEFINED for value in args):
        return UNDEFINED
    others = strings((pattern, *options))
    if not isinstance(others, tuple) or not isinstance(inside, ListValue):
        return ERROR
    expression, flags = _bytes(others[0]), options_of(others[1]) if options else 0
    undefined = False
    try:
        for element in element_values(inside, env):
            if element is UNDEFINED:
                undefined = True
            elif not isinstance(element, str):
                return ERROR
            elif occurs(expression, _bytes(element), flags, meter):
                return True
    except EvaluationFailed:
        return ERROR
    return UNDEFINED if undefined else False


def occurs(pattern: bytes, subject: bytes, flags: int, meter: Meter) -> bool:
    """Return whether the pattern occurs in a subject. An invalid pattern does not occur."""
    try:
        return matches(pattern, subject, flags, meter)
    except PatternFailure:
        return False


@register("regexps", 3, 4, metered=True, weight=8)
def regexps(args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:  # noqa: ARG001
    r"""``regexps(pattern, s, template[, options])``: the template with the groups ``\0`` to ``\9`` of the match.

    The empty string without a match. Option ``f`` keeps the rest of ``s``, ``g`` replaces every match.
    """
    return _replaced(args, "", meter)


@register("replace", 3, 4, metered=True, weight=8)
def replace(args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:  # noqa: ARG001
    """``replace(pattern, s, template[, options])``: ``s`` with the first match replaced."""
    return _replaced(args, "f", meter)


@register("replaceall", 3, 4, metered=True, weight=8)
def replace_all(args: Sequence[ClassAdValue], env: Environment, meter: Meter) -> ClassAdValue:  # noqa: ARG001
    """``replaceall(pattern, s, template[, options])``: ``s`` with every match replaced."""
    return _replaced(args, "fg", meter)


def _replaced(args: Sequence[ClassAdValue], always: str, meter: Meter) -> ClassAdValue:
    texts = strings(tuple(args))
    if not isinstance(texts, tuple):
        return texts
    pattern, subject, template, *letters = texts
    options = "".join(letters) + always
    try:
        output = replaced(
            _bytes(pattern),
            _bytes(subject),
            _bytes(template),
            options_of(options),
            meter,
            whole="f" in options,
            everywhere="g" in options,
        )
    except PatternFailure:
        return ERROR
    return from_bytes(output) if len(output) <= MAX_BYTES else ERROR
