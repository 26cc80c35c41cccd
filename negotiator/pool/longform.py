"""Long form, as ``condor_status -long``, ``condor_q -long`` and ``condor_history -long`` print it.

An attribute a line, ads parted by blank lines, by the ``***`` lines of history files, or by the ``-- Schedd: ...``
lines of ``condor_q``; ``#`` begins a comment line. HTCondor keeps what stands above a line that does not parse and
loses the rest; here such an ad is set aside as a whole, since half an ad is another ad (no Requirements, say).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad import Expr, ParseError, parse_old
from negotiator.classad.ad import fold
from negotiator.pool.found import Found, found_ad, not_parsed, set_aside
from negotiator.pool.limits import MAX_ATTRIBUTES, MAX_LINE
from negotiator.pool.secrets import is_secret
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CACHED_LINES: Final = 1 << 17
_CACHED_LENGTH: Final = 2048
_TYPE: Final = "mytype"

Attribute = tuple[str, Expr]
LineCache = dict[str, tuple[str, Attribute]]
"""From a line to the folded name of its attribute, and the attribute."""


def lines(blocks: Iterable[str]) -> Iterator[str]:
    """Split blocks of text into lines without their ends; of a line over MAX_LINE a little more than that is given."""
    rest = ""
    for block in blocks:
        parts = block.split("\n")
        if len(rest) <= MAX_LINE:
            parts[0] = rest + parts[0]
        else:
            parts[0] = rest
        rest = parts.pop()
        yield from parts
    if rest:
        yield rest


def read_long(blocks: Iterable[str], file: str, cache: LineCache | None = None) -> Iterator[Found]:
    """Read ads in long form; a ``cache`` shared by several texts saves parsing the lines they have in common."""
    known = {} if cache is None else cache
    ad = _Ad(file)
    for number, line in enumerate(lines(blocks), 1):
        hit = known.get(line)
        if hit is not None:
            if not ad.first_line:
                ad.first_line = number
            if hit[0] == _TYPE:
                ad.typed(number)
            ad.attributes[hit[0]] = hit[1]
            continue
        text = line.strip()
        if not text or text.startswith(("***", "-- ")):
            if ad.first_line:
                yield ad.done()
                ad = _Ad(file)
        elif text[0] != "#":
            ad.read(line, number, known)
    if ad.first_line:
        yield ad.done()


class _Ad:
    """The ad being read; once it has a problem, the rest of its lines is skipped."""

    __slots__ = ("attributes", "file", "first_line", "guarded", "problem")

    def __init__(self, file: str) -> None:
        self.file = file
        self.first_line = 0
        self.attributes: dict[str, Attribute] = {}
        self.problem: Problem | None = None
        self.guarded = False  # it has a secret, and what is wrong below it may be a part of it

    def done(self) -> Found:
        return self.problem or found_ad(self.attributes.values(), Source(self.file, self.first_line))

    def read(self, line: str, number: int, cache: LineCache) -> None:
        """Read a line that is not in the cache."""
        self.first_line = self.first_line or number
        name, equals, right = line.partition("=")
        name = name.strip()
        if is_secret(name):
            self.guarded = True
        elif self.problem is None:
            entry = self._entry(line, name, right if equals else None, number)
            if entry is None:
                return
            if entry[0] == _TYPE:
                self.typed(number)
            self.attributes[entry[0]] = entry[1]
            if len(line) <= _CACHED_LENGTH:
                if len(cache) >= _CACHED_LINES:
                    cache.clear()
                cache[line] = entry

    def typed(self, number: int) -> None:
        """See whether this MyType is the first; where files were joined, an ad may run into the next."""
        if _TYPE in self.attributes and self.problem is None:
            source, hint = Source(self.file, number), "part ads by a blank line"
            message = f"a second MyType: the ad that begins at line {self.first_line} runs into another one"
            self.problem = set_aside(source, message, hint)

    def _entry(self, line: str, name: str, right: str | None, number: int) -> tuple[str, Attribute] | None:
        if len(line) > MAX_LINE:
            return self._fail(number, 0, f"a line has more than {MAX_LINE} characters")
        if right is None:
            return self._fail(number, 1, "a line has no '='", line)
        if not name or "\0" in name:
            return self._fail(number, 1, "a line has no name left of its '='", line)
        if len(self.attributes) > MAX_ATTRIBUTES:
            return self._fail(number, 0, f"it has more than {MAX_ATTRIBUTES} attributes")
        stripped = right.strip()
        try:
            expression = parse_old(stripped)
        except ParseError as error:
            column = line.index("=") + 2 + len(right) - len(right.lstrip()) + error.column - 1
            return self._fail(number, column, not_parsed(name, error), line)
        return fold(name), (name, expression)

    def _fail(self, number: int, column: int, message: str, line: str = "") -> tuple[str, Attribute] | None:
        if self.guarded:
            message, line = "a line below a secret does not parse", ""
        hint = f"the ad begins at line {self.first_line}; mend or remove this line"
        self.problem = set_aside(Source(self.file, number, column), message, hint, line)
        return None
