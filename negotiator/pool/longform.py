"""Long form, as ``condor_status -long``, ``condor_q -long`` and ``condor_history -long`` print it.

An attribute a line, ads parted by blank lines, by the ``***`` lines of history files, or by the ``-- Schedd: ...``
lines of ``condor_q``; ``#`` begins a comment line. HTCondor keeps what stands above a line that does not parse and
loses the rest; here such an ad is set aside as a whole, since half an ad is another ad (no Requirements, say). So is
one of more than ``MAX_ATTRIBUTES``, where what is given twice counts twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ParseError
from negotiator.classad.scalar.ad import fold
from negotiator.classad.tables.dictionary import BLANK, DROPPED, UNKNOWN, TooManyNamesError
from negotiator.pool.limits import MAX_ATTRIBUTES, MAX_LINE
from negotiator.pool.parsed_ad import ParsedAd, ReadResult, ad_problem, parse_message
from negotiator.pool.secrets import is_secret
from negotiator.pool.sieve import Sieve
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.classad.tables.dictionary import AdDictionary, Row

_TYPE: Final = "mytype"

_PIECE: Final = 1 << 20
"""Characters that are looked at together at most: all their lines are in memory at once."""

# What stands in the place of a cell for lines that are no attribute to be kept; cells are 0 or more.
_END: Final = BLANK
_BAD: Final = BLANK - 1
_SECRET: Final = BLANK - 2
_COMMENT: Final = BLANK - 3


def whole_lines(blocks: Iterable[str]) -> Iterator[str]:
    """Cut a text anew: into blocks that end where a line ends, without its end.

    Of a line over MAX_LINE a little more than that is given.
    """
    rest = ""
    for block in _pieces(blocks):
        end = block.rfind("\n")
        start = 0 if len(rest) <= MAX_LINE else block.find("\n")  # of a line too long the rest is left out
        if end >= 0:
            yield rest + block[start:end]
            rest = block[end + 1 :]
        elif start == 0:
            rest += block
    if rest:
        yield rest


def _pieces(blocks: Iterable[str]) -> Iterator[str]:
    for block in blocks:
        for start in range(0, len(block), _PIECE):
            yield block[start : start + _PIECE]


def read_long(blocks: Iterable[str], file: str, dictionary: AdDictionary) -> Iterator[ReadResult]:
    """Read ads in long form; the ``dictionary`` of the pool knows the lines that were read before.

    Blocks of some ten ads are read faster than those of one. Where the dictionary keeps only some attributes, what is
    wrong with lines of others may go unnoticed.
    """
    reader = _LongFormReader(file, dictionary)
    for block in whole_lines(blocks):
        yield from reader.read(block)
    yield from reader.end()


class _LineCells(NamedTuple):
    """Lines that were looked at: the cell of each, or what it is instead, and its number in the text."""

    cells: Row
    numbers: NDArray[np.int64]

    def cut(self, start: int, end: int) -> _LineCells:
        return _LineCells(self.cells[start:end], self.numbers[start:end])

    def pick(self, which: NDArray[np.bool_]) -> _LineCells:
        return _LineCells(self.cells[which], self.numbers[which])


class _LineFault(NamedTuple):
    """What is wrong with a line, in which column, and the line if it may be shown."""

    message: str
    column: int = 1
    shown: str = ""


@attrs.define
class _OpenAd:
    """An ad of which the end was not read yet: the number of its first line, and its attributes so far.

    ``guarded`` says that it has a secret, and what is wrong below it may be a part of it.
    """

    line: int
    guarded: bool
    parts: list[_LineCells] = attrs.field(factory=list)
    size: int = 0
    problem: Problem | None = None

    def add(self, attributes: _LineCells) -> None:
        self.parts.append(attributes)
        self.size += len(attributes.cells)

    def attributes(self) -> _LineCells:
        return _LineCells(*map(np.concatenate, zip(*self.parts, strict=True)))


class _LongFormReader:
    """Reads a text some lines at a time: an ad may begin in some and end in others."""

    __slots__ = ("_dictionary", "_faults", "_file", "_line", "_open", "_sieve")

    def __init__(self, file: str, dictionary: AdDictionary) -> None:
        self._file = file
        self._dictionary = dictionary
        self._sieve = None if dictionary.wanted is None else Sieve(dictionary.wanted)
        self._line = 1  # of the text that is read next
        self._open: _OpenAd | None = None
        self._faults: dict[int, _LineFault] = {}  # of the lines that are being read, by their numbers

    def read(self, block: str) -> Iterator[ReadResult]:
        """Read further lines; give the ads that end in them."""
        if self._open is not None and self._open.problem is not None:
            below = self._skip(block)
            if below is None:
                return
            block = below
        lines = self._look(block)
        ends = np.flatnonzero(lines.cells == _END)
        others = np.flatnonzero(lines.cells < _END)
        plain = np.diff(np.searchsorted(others, ends), prepend=0) == 0  # there is none since the end before
        begin, start = self._line, 0  # the line below the last end, and its place among those looked at
        self._line += block.count("\n") + 1
        for end, number, is_plain in zip(
            ends.tolist(), lines.numbers[ends].tolist(), plain.tolist(), strict=True
        ):
            if self._open is None and is_plain and end - start <= MAX_ATTRIBUTES:
                if begin < number:
                    yield self._found(lines.cells[start:end], lines.numbers[start:end], begin)
            else:
                self._continue(lines.cut(start, end), range(begin, number))
                if self._open is not None:
                    yield self._done(self._open)
            begin, start = number + 1, end + 1
        self._continue(lines.cut(start, len(lines.cells)), range(begin, self._line))

    def end(self) -> Iterator[ReadResult]:
        """Give the last ad, where no blank line stands below it."""
        if self._open is not None:
            yield self._done(self._open)

    def _skip(self, block: str) -> str | None:
        """Return what there is from the end of the ad that is open on: of that ad nothing more is wanted."""
        texts = block.split("\n")
        for place, text in enumerate(texts):
            if _ends(text.strip()):
                self._line += place
                return "\n".join(texts[place:])
        self._line += len(texts)
        return None

    def _look(self, block: str) -> _LineCells:
        """Look at lines together: those of attributes that are not kept are left out, and so are their numbers."""
        if self._sieve is None:
            texts = block.split("\n")
            places = np.arange(len(texts))
        else:
            texts, places = self._sieve.lines(block)
        lines = _LineCells(self._dictionary.cells(texts), places + self._line)
        self._faults.clear()
        unknown = np.flatnonzero(lines.cells == UNKNOWN)
        numbers = lines.numbers[unknown].tolist()
        lines.cells[unknown] = [
            self._cell(texts[place], number) for place, number in zip(unknown.tolist(), numbers, strict=True)
        ]
        return lines if self._sieve is None else lines.pick(lines.cells != DROPPED)

    def _cell(self, line: str, number: int) -> int:
        """Return what a line is that was not known when those read together were looked up."""
        name, equals, right = line.partition("=")
        name = name.strip()
        if not name or name[0] in "*-#":
            text = line.strip()
            if _ends(text):
                return _END
            if text[0] == "#":
                return _COMMENT
        if not equals or not name or "\0" in name or len(line) > MAX_LINE:
            if is_secret(name):
                return _SECRET
            self._faults[number] = _malformed(line, equals)
            return _BAD
        try:
            cell = self._dictionary.cell(line, name, right.strip())
        except ParseError as error:
            column = len(line) - len(right.lstrip()) + error.column
            self._faults[number] = _LineFault(parse_message(name, error), column, line)
            return _BAD
        except TooManyNamesError as error:
            self._faults[number] = _LineFault(str(error))
            return _BAD
        return _SECRET if cell is None else cell

    def _continue(self, part: _LineCells, lines: range) -> None:
        """Add to the ad that is open, or begin one: ``part`` is what was looked at of these ``lines`` of the text."""
        if self._open is None:
            lines = lines[_comments(part, lines.start) :]
            if not lines:
                return
            self._open = _OpenAd(
                lines.start, guarded=self._sieve is not None
            )  # which lets no secrets through
        if self._open.problem is None:
            self._add(self._open, part)

    def _add(self, ad: _OpenAd, part: _LineCells) -> None:
        """Add attributes to an ad, down to the first line that is wrong."""
        bad = np.flatnonzero(part.cells == _BAD)[:1].tolist()
        above = part.cut(0, *bad) if bad else part
        ad.guarded = ad.guarded or bool((above.cells == _SECRET).any())
        ad.add(above.pick(above.cells >= 0))
        if ad.size > MAX_ATTRIBUTES:
            source = Source(self._file, ad.line)
            ad.problem = ad_problem(source, f"it has more than {MAX_ATTRIBUTES} attributes")
        elif bad:
            second = self._second_type(*ad.attributes(), ad.line)
            ad.problem = second or self._problem(ad, int(part.numbers[bad[0]]))

    def _done(self, ad: _OpenAd) -> ReadResult:
        self._open = None
        return ad.problem or self._found(*ad.attributes(), ad.line)

    def _found(self, row: Row, numbers: NDArray[np.int64], line: int) -> ReadResult:
        """Give the ad of these attributes, which begins in a line; ``numbers`` are theirs."""
        ad = self._dictionary.ad(row)
        if _TYPE in ad.shape.repeated and (second := self._second_type(row, numbers, line)):
            return second
        return ParsedAd(ad, Source(self._file, line))

    def _second_type(self, row: Row, numbers: NDArray[np.int64], line: int) -> Problem | None:
        """Tell of an ad that has two types: where files were joined, one ad may run into the next."""
        names = [fold(self._dictionary.name(cell)) for cell in row.tolist()]
        places = [place for place, name in enumerate(names) if name == _TYPE]
        if len(places) < 2:
            return None
        message = f"a second MyType: the ad that begins at line {line} runs into another one"
        source = Source(self._file, int(numbers[places[1]]))
        return ad_problem(source, message, "part ads by a blank line")

    def _problem(self, ad: _OpenAd, number: int) -> Problem:
        """Say what is wrong with a line; of one below a secret, no more than where."""
        message, column, shown = self._faults[number]
        if ad.guarded:
            message, shown = "a line below a secret does not parse", ""
        hint = f"the ad begins at line {ad.line}; mend or remove this line"
        return ad_problem(Source(self._file, number, column), message, hint, shown)


def _ends(text: str) -> bool:
    """Return whether a line, without blanks around it, parts two ads."""
    return not text or text.startswith(("***", "-- "))


def _malformed(line: str, equals: str) -> _LineFault:
    """Say why a line is no name and expression with a ``=`` between them."""
    if len(line) > MAX_LINE:
        return _LineFault(f"a line has more than {MAX_LINE} characters", 0)
    if not equals:
        return _LineFault("a line has no '='", 1, line)
    return _LineFault("a line has no name left of its '='", 1, line)


def _comments(part: _LineCells, line: int) -> int:
    """Return how many comments there are from a line on, without another line among them."""
    leading = (part.cells == _COMMENT) & (part.numbers == line + np.arange(len(part.numbers)))
    return len(leading) if leading.all() else int(leading.argmin())
