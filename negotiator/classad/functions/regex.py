"""Functions of regular expressions: regexp, regexpMember, regexps, replace, replaceall.

They are PCRE2's, on bytes, with a limit on the work of a match.

HTCondor relies on PCRE2's own limit of 10,000,000 steps, which is weak: steps are counted from 0 at each start
position, and one step may scan the whole subject, so that ``a*a*[bc]`` on 10,000 letters takes two minutes. Here the
work of the whole match is limited, and by counts instead of a clock, so that equal input gives equal output:

1. The search runs with a limit that shrinks with the square of the subject's length, so that all start positions
   together stay below ``_WORK`` (about nanoseconds). Nearly all patterns need no more.
2. If that limit is hit, each start position is tried separately. One that needs more gets four times as much each
   time, up to PCRE2's limit, and its greatest possible work is subtracted from a budget.

The work of step 2 is also charged as steps of the evaluation, since a list may have thousands of such subjects.

Patterns are never compiled to machine code, which counts differently. The limits are written at the start of the
pattern; limits in the pattern itself can only lower them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import attrs
import pcre2

from negotiator.classad.context import EvaluationFailed, ListValue
from negotiator.classad.functions.registry import element_values, register, strings
from negotiator.classad.values import ERROR, MAX_BYTES, UNDEFINED, from_bytes, to_bytes, until_nul

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from negotiator.classad.context import ClassAdValue, Environment
    from negotiator.classad.functions.registry import Meter
    from negotiator.classad.values import Exceptional

CASELESS = 0x0000_0008
DOTALL = 0x0000_0020
EXTENDED = 0x0000_0080
MULTILINE = 0x0000_0400

MAX_SUBJECT = 1 << 15
"""Length limit of subjects and patterns, in bytes. Scanning every suffix of a subject takes the square of its length."""

_WORK = 500_000_000
_BUDGET = 4_000_000_000
_WORK_OF_A_STEP = 512
_STEP = 28  # the cost of a step, relative to scanning a byte
_LEAST_LIMIT = 4
_MOST_LIMIT = 10_000_000
_HEAP_KIBIBYTES = 65_536

_ONLY_AS_A_WHOLE = (b"(*", rb"\G")  # has another meaning if the start positions are tried one by one

# The Python package sets this option to resemble Python; without it "\x{41}" has PCRE2's meaning, as in HTCondor. The
# package's PCRE2 is built without "\C" (one byte), which on bytes equals any character.
_ALT_BSUX = 0x0000_0002
_NEVER_BACKSLASH_C = 0x0010_0000
_ANY_BYTE = re.compile(
    rb"\(\?\#[^)]*\)"  # a comment
    rb"|\\Q.*?(?:\\E|\Z)"  # quoted text
    rb"|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"  # a class
    rb"|(?P<any>\\C)|\\.",
    re.DOTALL,
)
_SHORT_PATTERN = 1_000  # characters of a pattern that is remembered
_OPTIONS = {"i": CASELESS, "m": MULTILINE, "s": DOTALL, "x": EXTENDED}


class PatternFailure(Exception):  # noqa: N818
    """The pattern is invalid, or the match needs more work than allowed. The value of the call is error."""


def matches(
    pattern: bytes, subject: bytes, options: int = 0, meter: Meter | None = None, *, not_empty: bool = False
) -> bool:
    """Return whether the pattern occurs anywhere in the subject; with ``not_empty``, as more than the empty string.

    :raises PatternFailure: the pattern is invalid, or the match needs too much work. The meter may raise too.
    """
    search = _Search(pattern, options, subject, meter)
    return search.next(0, b"(*NOTEMPTY)" if not_empty else b"") is not None


def check_pattern(pattern: bytes, options: int = 0) -> None:
    """Raise ``PatternFailure`` if the pattern cannot be compiled."""
    _compiled(pattern, options, _MOST_LIMIT, b"")


def replaced(
    pattern: bytes,
    subject: bytes,
    template: bytes,
    options: int,
    meter: Meter | None = None,
    *,
    whole: bool,
    everywhere: bool,
) -> bytes:
    r"""Return the template of ``regexps`` or ``replace`` with ``\0`` to ``\9`` replaced by the groups of the match.

    ``whole`` keeps the subject around the matches. ``everywhere`` continues after the first match; as in HTCondor it
    fails if the pattern matches the empty string at the end of the subject.

    :raises PatternFailure: as ``matches``, or the template names a group after the last one in the match. The meter may
        raise too.
    """
    output = bytearray()
    filling = _template(template)
    search = _Search(pattern, options, subject, meter)
    position, after_empty = 0, False
    while True:
        if position > len(subject) or len(output) > MAX_BYTES:
            raise PatternFailure
        match = search.after_empty(position) if after_empty else search.next(position)
        if match is None and after_empty:
            output += subject[position : position + 1]
            position, after_empty = position + 1, False
            continue
        if match is None:
            break
        start, end = match.span()
        if start < position or end < start:
            raise PatternFailure  # "\\K" in an assertion can cause this
        if whole:
            output += subject[position:start]
        output += _filled(filling, match)
        position, after_empty = end, after_empty or start == end
        if not everywhere:
            break
    if whole:
        output += subject[position:]
    return bytes(output)


class _Search:
    """The matches of a pattern in a subject, and the remaining budget for start positions that need more work."""

    def __init__(self, pattern: bytes, options: int, subject: bytes, meter: Meter | None) -> None:
        if len(subject) > MAX_SUBJECT:
            raise PatternFailure
        self._pattern = pattern
        self._options = options
        self._subject = subject
        self._meter = meter
        size = (
            1 << len(subject).bit_length()
        )  # a power of two: few limits, so that compiled patterns are used again
        self._limit = min(max(_WORK // (size * (_STEP + size)), _LEAST_LIMIT), _MOST_LIMIT)
        self._budget = _BUDGET

    def next(self, position: int, verb: bytes = b"") -> pcre2.Match | None:
        """Return the first match that starts at ``position`` or later, or raise ``PatternFailure``."""
        compiled = _compiled(self._pattern, self._options, self._limit, verb)
        try:
            return compiled.search(self._subject, position)
        except pcre2.LibraryError as error:
            if _is_limit(error):
                self._charge(self._limit * _STEP)
            if not _is_limit(error) or any(special in self._pattern for special in _ONLY_AS_A_WHOLE):
                raise PatternFailure from error
        matches = (self._at(start, verb) for start in self._starts(position))
        return next((match for match in matches if match is not None), None)

    def _starts(self, position: int) -> Iterator[int]:
        """Return where a match may start. A pattern that begins with ``.*`` can match at the start of a line only."""
        greedy = self._pattern.removeprefix(b"(?s)").startswith(b".*") and b"|" not in self._pattern
        dot_is_any = self._options & DOTALL or self._pattern.startswith(b"(?s)")
        yield position
        for start in range(position + 1, 1 if greedy and dot_is_any else len(self._subject) + 1):
            if not greedy or self._subject[start - 1] in b"\r\n":
                yield start

    def after_empty(self, position: int) -> pcre2.Match | None:
        """Return the match that starts at ``position`` and is not empty, or raise ``PatternFailure``."""
        return self._at(position, b"(*NOTEMPTY_ATSTART)")

    def _at(self, position: int, verb: bytes) -> pcre2.Match | None:
        limit = self._limit
        while True:
            try:
                return _compiled(self._pattern, self._options, limit, verb).match(self._subject, position)
            except pcre2.LibraryError as error:
                limit = min(limit * 4, _MOST_LIMIT) if limit < _MOST_LIMIT else 0
                work = limit * (_STEP + len(self._subject))
                self._budget -= work
                if not _is_limit(error) or not limit or self._budget < 0:
                    raise PatternFailure from error
                self._charge(work)

    def _charge(self, work: int) -> None:
        if self._meter is not None:
            self._meter.charge(work // _WORK_OF_A_STEP)


def _is_limit(error: pcre2.LibraryError) -> bool:
    return "match limit" in str(error)


@lru_cache(maxsize=512)
def _compiled(pattern: bytes, options: int, limit: int, verb: bytes) -> pcre2.Pattern:
    if len(pattern) > MAX_SUBJECT:
        raise PatternFailure
    text = b"(*LIMIT_MATCH=%d)(*LIMIT_HEAP=%d)%b%b" % (
        limit,
        _HEAP_KIBIBYTES,
        verb,
        _without_any_byte(pattern),
    )
    try:
        code = pcre2._cy.compile(text, options, _ALT_BSUX | _NEVER_BACKSLASH_C)  # noqa: SLF001
    except pcre2.LibraryError as error:
        raise PatternFailure from error
    return pcre2.Pattern(code, text, options, False, None)


def _without_any_byte(pattern: bytes) -> bytes:
    if b"\\C" not in pattern or pattern.startswith(b"(*") or len(pattern) > 1024:
        return pattern
    return _ANY_BYTE.sub(lambda found: b"(?s:.)" if found["any"] else found[0], pattern)


@attrs.frozen
class _Template:
    parts: tuple[bytes | int, ...]
    groups: frozenset[int]


@lru_cache(maxsize=64)
def _template(text: bytes) -> _Template:
    r"""Split a template into texts and group numbers. A backslash is literal unless a digit follows."""
    parts: list[bytes | int] = []
    text_from = at = 0
    while (at := text.find(b"\\", at)) >= 0:
        digit = text[at + 1 : at + 2]
        if digit.isdigit():
            parts += [text[text_from:at], int(digit)]
            text_from = at = at + 2
        else:
            at += 1
    parts.append(text[text_from:])
    return _Template(tuple(parts), frozenset(part for part in parts if isinstance(part, int)))


def _filled(template: _Template, match: pcre2.Match) -> bytes:
    if not template.groups:
        return template.parts[0] if isinstance(template.parts[0], bytes) else b""
    last = max((group for group in range(1, match.re.groups + 1) if match.span(group)[0] >= 0), default=0)
    if max(template.groups) > last:
        raise PatternFailure
    groups = {group: match[group] or b"" for group in template.groups}
    return b"".join([part if isinstance(part, bytes) else groups[part] for part in template.parts])


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
