"""Regular expressions as HTCondor's functions use them: PCRE2 over bytes, with a bound on the work of a match.

PCRE2 counts the steps of a match anew at each start position, so its limit alone allows (length of the subject) times
(limit) steps. Here the limit shrinks as subjects grow, which keeps their product near ``_STEPS``. Up to 32 bytes it is
PCRE2's own default, which HTCondor lives with. Patterns are never compiled to machine code, which counts otherwise.

The limits stand at the beginning of the pattern; what a pattern says of its own limits can only lower them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import pcre2

from negotiator.classad.bytestrings import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

CASELESS = 0x0000_0008
DOTALL = 0x0000_0020
EXTENDED = 0x0000_0080
MULTILINE = 0x0000_0400

MAX_SUBJECT = 1 << 20
"""The longest subject, in bytes, that is matched at all."""

_STEPS = 300_000_000
_DEFAULT_LIMIT = 10_000_000
_HEAP_KIBIBYTES = 65_536
_REPLACEMENT_WORK = (
    1 << 31
)  # bytes of subject times matches: PCRE2 may look at the whole subject at each match

# What the package asks of PCRE2 unasked, to look like Python, and HTCondor does not: "\x{41}" and "\C" mean what
# PCRE2 documents.
_ALT_BSUX = 0x0000_0002
_NEVER_BACKSLASH_C = 0x0010_0000


class PatternFailure(Exception):  # noqa: N818
    """The pattern is no pattern, or the match needs more work than is allowed: the value is error."""


def found(pattern: bytes, subject: bytes, options: int = 0, *, not_empty: bool = False) -> bool:
    """Return whether the pattern occurs anywhere in the subject, with ``not_empty`` as something more than nothing.

    Raises ``PatternFailure``.
    """
    compiled = _compiled(pattern, options, _bucket(subject), b"(*NOTEMPTY)" if not_empty else b"")
    return _search(compiled, subject, 0) is not None


def check(pattern: bytes, options: int = 0) -> None:
    """Raise ``PatternFailure`` if the pattern cannot be compiled."""
    _compiled(pattern, options, 0)


def replaced(
    pattern: bytes, subject: bytes, template: bytes, options: int, *, whole: bool, everywhere: bool
) -> bytes:
    r"""Return what ``regexps`` and ``replace`` make of a match: the template with ``\0`` to ``\9`` filled in.

    ``whole`` keeps the subject around the matches; ``everywhere`` goes on after the first. As in HTCondor a pattern
    that matches the empty string at the end of the subject fails where ``everywhere`` is asked for. Raises
    ``PatternFailure``, also where the template names a group beyond the last that took part in the match.
    """
    output = bytearray()
    parts = _template_parts(template)
    bucket = _bucket(subject)
    position, after_empty, work = 0, False, 0
    while True:
        work += len(subject)
        if position > len(subject) or work > _REPLACEMENT_WORK or len(output) > MAX_BYTES:
            raise PatternFailure
        compiled = _compiled(pattern, options, bucket, b"(*NOTEMPTY_ATSTART)" if after_empty else b"")
        match = _search(compiled, subject, position, anchored=after_empty)
        if match is None and after_empty:
            output += subject[position : position + 1]
            position, after_empty = position + 1, False
            continue
        if match is None:
            break
        start, end = match.span()
        if start < position or end < start:
            raise PatternFailure  # "\K" in an assertion can do that
        if whole:
            output += subject[position:start]
        for piece in _filled(parts, match):
            output += piece
        position, after_empty = end, after_empty or start == end
        if not everywhere:
            break
    if whole:
        output += subject[position:]
    return bytes(output)


@lru_cache(maxsize=512)
def _compiled(pattern: bytes, options: int, bucket: int, verb: bytes = b"") -> pcre2.Pattern:
    limit = min(_DEFAULT_LIMIT, _STEPS >> bucket) if bucket > 5 else _DEFAULT_LIMIT
    prefix = b"(*LIMIT_MATCH=%d)(*LIMIT_HEAP=%d)" % (limit, _HEAP_KIBIBYTES) + verb
    try:
        code = pcre2._cy.compile(prefix + pattern, options, _ALT_BSUX | _NEVER_BACKSLASH_C)  # noqa: SLF001
    except pcre2.LibraryError as error:
        raise PatternFailure from error
    return pcre2.Pattern(code, prefix + pattern, options, False, None)


def _bucket(subject: bytes) -> int:
    if len(subject) > MAX_SUBJECT:
        raise PatternFailure
    return (len(subject) - 1).bit_length() if subject else 0


def _search(
    compiled: pcre2.Pattern, subject: bytes, position: int, *, anchored: bool = False
) -> pcre2.Match | None:
    try:
        return compiled.match(subject, position) if anchored else compiled.search(subject, position)
    except pcre2.LibraryError as error:
        raise PatternFailure from error


@lru_cache(maxsize=64)
def _template_parts(template: bytes) -> tuple[bytes | int, ...]:
    r"""Split a template into text and group numbers; a backslash before anything but a digit is itself."""
    parts: list[bytes | int] = []
    text_from = at = 0
    while (at := template.find(b"\\", at)) >= 0:
        digit = template[at + 1 : at + 2]
        if digit.isdigit():
            parts += [template[text_from:at], int(digit)]
            text_from = at = at + 2
        else:
            at += 1
    return (*parts, template[text_from:])


def _filled(parts: tuple[bytes | int, ...], match: pcre2.Match) -> Iterator[bytes]:
    last: int | None = None
    for part in parts:
        if isinstance(part, bytes):
            yield part
            continue
        if last is None:
            last = max(
                (group for group in range(1, match.re.groups + 1) if match.span(group)[0] >= 0), default=0
            )
        if part > last:
            raise PatternFailure
        yield match[part] or b""
