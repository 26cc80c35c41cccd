"""A text of bracketed records, cut into records without understanding them.

So one record that does not parse leaves the others whole, and nothing is parsed that is too long or too deep. Strings
and comments are stepped over; a string ends with its line at the latest, so a lost quote spoils one record only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from negotiator.pool.limits import MAX_AD, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Only sets of characters are possessive: before Python 3.11.5 groups do not always match (CPython issue 106052).

# All that holds no bracket. It stops before a string or comment that the text at hand does not end.
_SKIPPED: Final = re.compile(
    r"""(?:
        [^\[\]{}"'/\\]++
      | \\[^\n]
      | "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*"
      | '[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*'
      | "(?=[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*\\?\n)
      | '(?=[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*\\?\n)
      | //[^\n]*+\n
      | /\*(?s:.*?)\*/
      | /(?=[^/*])
      | \\(?=\n)
    )*""",
    re.VERBOSE,
)
_SEPARATORS: Final = re.compile(r"(?:[\s,;\ufeff]++|//[^\n]*+|/\*(?s:.*?)\*/|/\*.*+)*", re.DOTALL)
_OPENING: Final = "[{"


class BracketedRecord(NamedTuple):
    """One record, brackets and all, and where it begins; or, where ``fault`` says so, why there is none."""

    text: str
    line: int
    column: int
    fault: str = ""
    last: bool = False
    """Whether the fault ends the reading."""
    stray: bool = False
    """Whether the fault is text between records, which is ignored."""


def split_records(text: Iterable[str], opening: str) -> Iterator[BracketedRecord]:
    """Give the records of a text that begin with the bracket ``opening``, which may stand in brackets of another kind.

    Faults are records that are too deep, too long or never closed, and the first text that stands between records. A
    bracket right after such text is a part of something, of the value of a secret maybe, and no record either.
    """
    return _RecordSplitter(text, opening).cut()


class _RecordSplitter:
    def __init__(self, text: Iterable[str], opening: str) -> None:
        self.blocks = iter(text)
        self.opening = opening
        self.buffer = ""
        self.at = 0
        self.kept = 0  # up to here the buffer is no longer needed
        self.line = 1  # of the offset `counted`
        self.counted = 0
        self.line_start = 0  # the offset of the line of `counted`; negative where it was dropped
        self.stray = False
        self.part = False  # what the bracket at hand opens is a part of the text before it

    def cut(self) -> Iterator[BracketedRecord]:
        depth = deepest = 0
        inside = False
        while self.to_bracket():
            bracket = self.buffer[self.at]
            if not inside:
                if fault := self.between():
                    yield fault
                inside = bracket == self.opening or (self.part and bracket in _OPENING)
                self.kept = self.at + (not inside)
                depth = deepest = int(inside)
            elif bracket in _OPENING:
                depth += 1
                deepest = max(deepest, depth)
            else:
                depth -= 1
            self.at += 1
            if inside and depth == 0:
                inside = False
                yield self.record(deepest)
            elif self.at - self.kept > MAX_AD:
                break
        if inside or len(self.buffer) - self.kept > MAX_AD:
            too_long = len(self.buffer) - self.kept > MAX_AD
            line, column = self.place(self.kept)
            why = f"has more than {MAX_AD} characters" if too_long else "is not closed"
            yield BracketedRecord("", line, column, f"what begins here {why}", last=True)
        else:
            self.at = len(self.buffer)
            if fault := self.between():
                yield fault

    def to_bracket(self) -> bool:
        """Go to the next bracket; False where there is none, or none within MAX_AD characters."""
        while True:
            match = _SKIPPED.match(self.buffer, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.buffer) and self.buffer[self.at] in "[]{}":
                return True
            if len(self.buffer) - self.kept > MAX_AD:
                return False
            block = next(self.blocks, None)
            if block is None:
                return False
            self.extend(block)

    def extend(self, block: str) -> None:
        self.place(self.kept)
        self.buffer = self.buffer[self.kept :] + block
        self.at -= self.kept
        self.line_start -= self.kept
        self.counted = self.kept = 0

    def place(self, offset: int) -> tuple[int, int]:
        """Give the line and column of an offset; offsets only grow."""
        newlines = self.buffer.count("\n", self.counted, offset)
        if newlines:
            self.line += newlines
            self.line_start = self.buffer.rfind("\n", self.counted, offset) + 1
        self.counted = offset
        return self.line, offset - self.line_start + 1

    def record(self, deepest: int) -> BracketedRecord:
        line, column = self.place(self.kept)
        text = self.buffer[self.kept : self.at]
        self.kept = self.at
        if self.part:
            return BracketedRecord("", line, column, "it stands right after text that belongs to no ad")
        if len(text) > MAX_AD:
            return BracketedRecord("", line, column, f"it has more than {MAX_AD} characters")
        if deepest > MAX_DEPTH:
            return BracketedRecord(
                "", line, column, f"it has more than {MAX_DEPTH} brackets one inside the other"
            )
        return BracketedRecord(text, line, column)

    def between(self) -> BracketedRecord | None:
        """See whether there is text since the last record, and tell of the first such text."""
        match = _SEPARATORS.match(self.buffer, self.kept, self.at)
        end = match.end() if match else self.kept
        self.part = end < self.at and self.buffer[end : self.at].rstrip()[-1:] not in (",", ";")
        if self.stray or end >= self.at:
            return None
        self.stray = True
        line, column = self.place(end)
        return BracketedRecord("", line, column, "there is text that belongs to no ad", stray=True)
