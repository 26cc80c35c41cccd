"""Split an HTCondor-style configuration file, or the output of ``condor_config_val -dump``, into logical lines.

Source: the HTCondor manual, "Introduction to Configuration" (macros, comments and line continuations, multi-line
values), and HTCondor 25 itself where the manual does not specify it: every line is trimmed, also those that continue another;
blanks may follow ``\\``; an empty line ends a continuation; a comment inside a continuation is skipped.

With ``-expand`` and ``-verbose`` a value that contains line ends is printed as it is: HTCondor itself can't read the result.
Names are sorted, which shows where the next definition begins (HTCondor 25.14).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

import attrs

from negotiator.bundle.text import LocatedText, SourceText
from negotiator.records import Problem, Severity

_BLANK = " \t\n\v\f\r"
_HEADER = "# Configuration from machine:"
_COMMENT = re.compile(r"^[ \t]*#", re.MULTILINE)


@attrs.frozen
class Uncertain:
    """Why it is not known whether, or how, HTCondor would read a definition, and what to do about it."""

    reason: str
    hint: str


@attrs.frozen(eq=False)
class Definition:
    """``NAME = value``, macros not yet replaced. ``at`` is the index of the name."""

    name: str
    at: int
    value: LocatedText
    uncertain: Uncertain | None = None

    @property
    def file(self) -> SourceText:
        """The file of the definition."""
        return self.value.file


def logical_lines(file: SourceText, problems: list[Problem]) -> Iterator[LocatedText]:
    """Yield the logical lines of a file: trimmed, continuation lines joined, without comments and empty lines."""
    pieces: list[tuple[int, int]] = []
    for start, end in _physical_lines(file.text):
        if pieces and file.text.startswith("#", start):
            if not file.text.endswith("\\", start, end):
                problems.append(_comment_inside(file, start))
            continue
        if not pieces and (start == end or file.text.startswith("#", start)):
            continue
        if file.text.endswith("\\", start, end):
            pieces.append((start, end - 1))
            continue
        yield _joined(file, [*pieces, (start, end)])
        pieces = []
    if pieces:
        yield _joined(file, pieces)


def _comment_inside(file: SourceText, at: int) -> Problem:
    message = r"a comment inside a continued line, without \ at its end: the continued line extends below it"
    hint = r"this follows HTCondor's manual; HTCondor 25 reads it differently: end the comment with \, or move it"
    return file.problem(Severity.WARNING, at, message, hint)


def _physical_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line without surrounding white space."""
    at = 0
    for line in text.split("\n"):
        start = at + len(line) - len(line.lstrip(_BLANK))
        stripped = line.strip(_BLANK)
        yield start, start + len(stripped)
        at += len(line) + 1


def _joined(file: SourceText, pieces: list[tuple[int, int]]) -> LocatedText:
    if len(pieces) == 1:
        start, end = pieces[0]
        return LocatedText(file.text[start:end], file, range(start, end), start)
    text = "".join(file.text[start:end] for start, end in pieces)
    offsets = list(chain.from_iterable(range(start, end) for start, end in pieces))
    return LocatedText(text, file, offsets, offsets[0] if offsets else pieces[0][0])


def is_dump(file: SourceText) -> bool:
    """True if the file begins as the output of ``condor_config_val -dump``."""
    return file.text.lstrip().startswith(_HEADER)


OUT_OF_ORDER = Uncertain(
    "it is out of order in the output of condor_config_val, perhaps a part of another value",
    "write your own definitions into another file",
)
_CUT = Uncertain("condor_config_val printed it over several lines", "write it between @=end and @end")


@attrs.define(eq=False)
class DumpedLines:
    """The lines of a dump: which of them begin a definition, and which belong to the value or the comment above."""

    file: SourceText
    last: Definition | None = None  # the definition that began last
    _in_comment: bool = False
    _name: str = ""
    _end: int = 0

    def starts(self, name: str, line: LocatedText) -> bool:
        """True if a line begins a definition of a name; an empty name never does."""
        above = self.file.text[self._end : line.at]
        self._end = line.index(len(line.text))
        parts = name.lower().split(".")
        later = [each for i in range(len(parts)) if (each := ".".join(parts[i:])) > self._name]
        if later:
            # Where a definition for the tool's own subsystem applies, TOOL.NAME is in the place of NAME.
            self._name, self._in_comment = min(later), False
            return True
        self._in_comment = self._in_comment or _COMMENT.search(above) is not None
        return False

    def cut(self) -> Definition | None:
        """Return the last definition as one of unknown value, once; None if the line belongs to a comment."""
        if self._in_comment or self.last is None or self.last.uncertain:
            return None
        self.last = attrs.evolve(self.last, uncertain=_CUT)
        return self.last
