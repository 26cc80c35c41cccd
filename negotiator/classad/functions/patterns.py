"""Regular expressions as HTCondor's functions use them: PCRE2 over bytes, with a bound on the work of a match.

HTCondor lives with PCRE2's own limit of 10,000,000 steps. That bounds less than it seems: steps are counted anew at
each start position, and one step may look at the whole subject, so that ``a*a*[bc]`` over 10,000 letters takes two
minutes. Here all of a match is bounded, and the bound is no clock, so that one input has one result:

1. The search runs with a limit that shrinks with the square of the subject, so that all start positions together stay
   below ``_WORK`` (about nanoseconds). Nearly all patterns of nearly all people need no more.
2. Where that limit is hit, each start position is tried by itself. One that needs more gets more, four times as much
   each time up to PCRE2's limit, and its greatest possible work is taken from a budget.

What the second takes is taken off the steps of the evaluation too: a list may hold thousands of such subjects.

Patterns are never compiled to machine code, which counts otherwise. The limits stand at the beginning of the pattern;
what a pattern says of its own limits there can only lower them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import attrs
import pcre2

from negotiator.classad.values import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

CASELESS = 0x0000_0008
DOTALL = 0x0000_0020
EXTENDED = 0x0000_0080
MULTILINE = 0x0000_0400

MAX_SUBJECT = 1 << 15
"""The longest subject or pattern, in bytes: just looking at each of the suffixes of a subject takes its square."""

_WORK = 500_000_000
_BUDGET = 4_000_000_000
_WORK_OF_A_STEP = 512
_STEP = 28  # what a step costs, when looking at a byte costs 1
_LEAST_LIMIT = 4
_MOST_LIMIT = 10_000_000
_HEAP_KIBIBYTES = 65_536

_ONLY_AS_A_WHOLE = (b"(*", rb"\G")  # what means something else where the start positions are tried one by one

# What the package asks of PCRE2 unasked, to look like Python, and HTCondor does not: "\x{41}" means what PCRE2
# documents. Its PCRE2 is built without "\C", one byte, which over bytes is the same as any character.
_ALT_BSUX = 0x0000_0002
_NEVER_BACKSLASH_C = 0x0010_0000
_ANY_BYTE = re.compile(
    rb"\(\?\#[^)]*\)"  # a comment
    rb"|\\Q.*?(?:\\E|\Z)"  # quoted text
    rb"|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]"  # a class
    rb"|(?P<any>\\C)|\\.",
    re.DOTALL,
)


class PatternFailure(Exception):  # noqa: N818
    """The pattern is no pattern, or the match needs more work than is allowed: the value is error."""


class Meter(Protocol):
    """What an evaluation may still do."""

    def charge(self, steps: int) -> None:
        """Take steps off it; raises where there are none left."""


def found(
    pattern: bytes, subject: bytes, options: int = 0, meter: Meter | None = None, *, not_empty: bool = False
) -> bool:
    """Return whether the pattern occurs anywhere in the subject, with ``not_empty`` as something more than nothing.

    Raises ``PatternFailure``, and what the meter raises.
    """
    search = _Search(pattern, options, subject, meter)
    return search.next(0, b"(*NOTEMPTY)" if not_empty else b"") is not None


def check(pattern: bytes, options: int = 0) -> None:
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
    r"""Return what ``regexps`` and ``replace`` make of a match: the template with ``\0`` to ``\9`` filled in.

    ``whole`` keeps the subject around the matches; ``everywhere`` goes on after the first. As in HTCondor a pattern
    that matches the empty string at the end of the subject fails where ``everywhere`` is asked for. Raises
    ``PatternFailure``, also where the template names a group beyond the last that took part in the match, and what
    the meter raises.
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
            raise PatternFailure  # "\\K" in an assertion can do that
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
    """The matches of a pattern in a subject, and what is left of the budget for start positions that need more."""

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
        """Return the first match that starts at ``position`` or later. Raises ``PatternFailure``."""
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
        """Return where a match may start: what begins with ``.*`` matches at the beginning of a line or not at all."""
        greedy = self._pattern.removeprefix(b"(?s)").startswith(b".*") and b"|" not in self._pattern
        dot_is_any = self._options & DOTALL or self._pattern.startswith(b"(?s)")
        yield position
        for start in range(position + 1, 1 if greedy and dot_is_any else len(self._subject) + 1):
            if not greedy or self._subject[start - 1] in b"\r\n":
                yield start

    def after_empty(self, position: int) -> pcre2.Match | None:
        """Return the match that starts at ``position`` and is not empty. Raises ``PatternFailure``."""
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
    r"""Split a template into text and group numbers; a backslash before anything but a digit is itself."""
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
