"""Splits a text of bracketed records into records, without parsing them.

Thus a record that does not parse does not affect the others, and nothing is parsed that is too long or too deep.
Brackets in strings and comments do not count. A string ends at the end of its line at the latest, so that a missing
quote affects one record only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from negotiator.pool.limits import MAX_AD, MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Only sets of characters are possessive: before Python 3.11.5 groups do not always match (CPython issue 106052).

# Text without a bracket. The match stops before a string or comment that the buffer does not end.
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
    """One record with its brackets, and where it begins; or a ``fault`` and no text."""

    text: str
    line: int
    column: int
    fault: str = ""
    last: bool = False
    """True if the rest of the text cannot be read."""
    stray: bool = False
    """True if the fault is text between records, which is ignored."""


def split_records(text: Iterable[str], opening: str) -> Iterator[BracketedRecord]:
    """Yield the records of a text that begin with the bracket ``opening``; brackets of another kind may surround them.

    Faults are records that are too deep, too long or never closed, and the first text between records. A bracket right
    after such text begins no record: both may be part of the value of a secret.
    """
    return _RecordSplitter(text, opening).cut()


class _RecordSplitter:
    def __init__(self, text: Iterable[str], opening: str) -> None:
        self.blocks = iter(text)
        self.opening = opening
        self.buffer = ""
        self.at = 0
        self.done = 0  # the buffer up to here is done with
        self.line = 1  # the line of offset `counted`
        self.counted = 0
        self.line_start = 0  # the offset where that line begins; negative if it was dropped
        self.stray = False
        self.part = False  # true if the next bracket belongs to the stray text before it

    def cut(self) -> Iterator[BracketedRecord]:
        depth = deepest = 0
        inside = False
        while self.go_to_bracket():
            bracket = self.buffer[self.at]
            if not inside:
                if fault := self.stray_text():
                    yield fault
                inside = bracket == self.opening or (self.part and bracket in _OPENING)
                self.done = self.at + (not inside)
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
            elif self.at - self.done > MAX_AD:
                break
        if inside or len(self.buffer) - self.done > MAX_AD:
            too_long = len(self.buffer) - self.done > MAX_AD
            line, column = self.position(self.done)
            why = f"has more than {MAX_AD} characters" if too_long else "is not closed"
            yield BracketedRecord("", line, column, f"what begins here {why}", last=True)
        else:
            self.at = len(self.buffer)
            if fault := self.stray_text():
                yield fault

    def go_to_bracket(self) -> bool:
        """Go to the next bracket; return False if no bracket follows within MAX_AD characters."""
        while True:
            match = _SKIPPED.match(self.buffer, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.buffer) and self.buffer[self.at] in "[]{}":
                return True
            if len(self.buffer) - self.done > MAX_AD:
                return False
            block = next(self.blocks, None)
            if block is None:
                return False
            self.extend(block)

    def extend(self, block: str) -> None:
        self.position(self.done)
        self.buffer = self.buffer[self.done :] + block
        self.at -= self.done
        self.line_start -= self.done
        self.counted = self.done = 0

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset; offsets must not decrease."""
        newlines = self.buffer.count("\n", self.counted, offset)
        if newlines:
            self.line += newlines
            self.line_start = self.buffer.rfind("\n", self.counted, offset) + 1
        self.counted = offset
        return self.line, offset - self.line_start + 1

    def record(self, deepest: int) -> BracketedRecord:
        line, column = self.position(self.done)
        text = self.buffer[self.done : self.at]
        self.done = self.at
        if self.part:
            return BracketedRecord("", line, column, "it follows text that belongs to no ad")
        if len(text) > MAX_AD:
            return BracketedRecord("", line, column, f"it has more than {MAX_AD} characters")
        if deepest > MAX_DEPTH:
            return BracketedRecord("", line, column, f"its brackets are nested more than {MAX_DEPTH} deep")
        return BracketedRecord(text, line, column)

    def stray_text(self) -> BracketedRecord | None:
        """Return the fault of the first text between records; None for later ones, and without such a text."""
        match = _SEPARATORS.match(self.buffer, self.done, self.at)
        end = match.end() if match else self.done
        self.part = end < self.at and self.buffer[end : self.at].rstrip()[-1:] not in (",", ";")
        if self.stray or end >= self.at:
            return None
        self.stray = True
        line, column = self.position(end)
        return BracketedRecord("", line, column, "text that belongs to no ad", stray=True)
