"""Long form, as ``condor_status -long``, ``condor_q -long`` and ``condor_history -long`` print it.

An attribute a line, ads parted by blank lines, by the ``***`` lines of history files, or by the ``-- Schedd: ...``
lines of ``condor_q``; ``#`` begins a comment line. HTCondor keeps what stands above a line that does not parse and
loses the rest; here such an ad is set aside as a whole, since half an ad is another ad (no Requirements, say).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ParseError, parse_old
from negotiator.classad.ad import fold
from negotiator.classad.dictionary import DROPPED, UNKNOWN, TooManyNamesError
from negotiator.pool.found import Found, FoundAd, not_parsed, set_aside
from negotiator.pool.limits import MAX_ATTRIBUTES, MAX_LINE
from negotiator.pool.secrets import is_secret
from negotiator.pool.sieve import Sieve
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.classad.dictionary import Dictionary, Row

_TYPE: Final = "mytype"

# What stands in the place of a cell for lines that are no attribute to be kept; cells are 0 or more.
_END: Final = UNKNOWN - 1
_BAD: Final = UNKNOWN - 2
_SECRET: Final = UNKNOWN - 3
_COMMENT: Final = UNKNOWN - 4
_NONE: Final = np.zeros(0, np.int64)


def whole_lines(blocks: Iterable[str]) -> Iterator[str]:
    """Cut a text anew: into blocks that end where a line ends, without its end.

    Of a line over MAX_LINE a little more than that is given.
    """
    rest = ""
    for block in blocks:
        cut = block.rfind("\n")
        if len(rest) > MAX_LINE:  # what comes of the line is left out
            head = rest + block[block.index("\n") : cut] if cut >= 0 else ""
        else:
            head = rest + block[: max(cut, 0)]
        if cut >= 0:
            yield head
            rest = block[cut + 1 :]
        elif len(rest) <= MAX_LINE:
            rest += block
    if rest:
        yield rest


def read_long(blocks: Iterable[str], file: str, dictionary: Dictionary) -> Iterator[Found]:
    """Read ads in long form; the ``dictionary`` of the pool knows the lines that were read before.

    Blocks of some ten ads are read faster than those of one.
    """
    reader = _Reader(file, dictionary)
    for block in whole_lines(blocks):
        yield from reader.read(block)
    yield from reader.end()


@attrs.define
class _Part:
    """Lines of a block of ``size`` lines: their cells, and the number of each in the text.

    Where all are attributes that are kept, or ends of ads, ``texts`` is empty; otherwise it has the lines themselves.
    """

    cells: Row
    numbers: NDArray[np.int64]
    texts: list[str]


@attrs.define
class _Open:
    """An ad of which the end was not read yet: the number of its first line, and its lines so far.

    ``guarded`` says that it has a secret, and what is wrong below it may be a part of it.
    """

    line: int
    parts: list[_Part] = attrs.field(factory=list)
    size: int = 0
    guarded: bool = False
    problem: Problem | None = None


class _Reader:
    """Reads a text some lines at a time: an ad may begin in some and end in others."""

    __slots__ = ("_dictionary", "_file", "_line", "_open", "_sieve")

    def __init__(self, file: str, dictionary: Dictionary) -> None:
        self._file = file
        self._dictionary = dictionary
        self._sieve = None if dictionary.wanted is None else Sieve(dictionary.wanted)
        self._line = 1  # of the text that is read next
        self._open: _Open | None = None

    def read(self, block: str) -> Iterator[Found]:
        """Read further lines; give the ads that end in them."""
        if self._open is not None and self._open.problem is not None:
            block = self._skip(block)
        size = block.count("\n") + 1
        part = self._part(block, size)
        ends = np.flatnonzero(part.cells == _END)
        begin, start = self._line, 0  # the line below the last end, and its place among those of the part
        for end, number in zip(ends.tolist(), part.numbers[ends].tolist(), strict=True):
            if self._open is None and not part.texts and end - start <= MAX_ATTRIBUTES:
                if begin < number:  # a whole ad, and nothing but attributes
                    yield self._found(part.cells[start:end], part.numbers[start:end], begin)
            else:
                self._continue(part, start, end, range(begin, number))
                if self._open is not None:
                    yield self._done(self._open)
            begin, start = number + 1, end + 1
        self._line += size
        if begin < self._line:
            self._continue(part, start, len(part.cells), range(begin, self._line))

    def _skip(self, block: str) -> str:
        """Return what there is from the end of the ad that is open on: of that ad nothing more is wanted."""
        texts = block.split("\n")
        for place, line in enumerate(texts):
            if _odd(line.strip(), "") == _END:
                self._line += place
                return "\n".join(texts[place:])
        self._line += len(texts) - 1
        return "#"

    def _part(self, block: str, size: int) -> _Part:
        sieved = None if self._sieve is None else self._sieve.lines(block)
        texts, places = sieved or (block.split("\n"), np.arange(size))
        self._dictionary.lines[""] = _END
        cells = self._dictionary.cells(texts)
        unknown = np.flatnonzero(cells == UNKNOWN)
        cells[unknown] = [self._cell(texts[place]) for place in unknown.tolist()]
        numbers = places + self._line
        if len(cells) and int(cells.min()) < _END:
            return _Part(cells, numbers, texts)
        if self._sieve is not None:
            kept = cells != DROPPED
            cells, numbers = cells[kept], numbers[kept]
        return _Part(cells, numbers, [])

    def end(self) -> Iterator[Found]:
        """Give the last ad, where no blank line stands below it."""
        if self._open is not None:
            yield self._done(self._open)

    def _cell(self, line: str) -> int:
        """Return what a line is that was not known when those read together were looked up."""
        name, equals, right = line.partition("=")
        name = name.strip()
        if not equals or not name or name[0] in "*-#" or "\0" in name or len(line) > MAX_LINE:
            return _odd(line.strip(), name)
        try:
            cell = self._dictionary.cell(line, name, right.strip())
        except (ParseError, TooManyNamesError):
            return _BAD
        return _SECRET if cell is None else cell

    def _continue(self, part: _Part, start: int, end: int, lines: range) -> None:
        """Add the lines from ``start`` to ``end`` of a part to the ad that is open, or begin one.

        They are all that matters of the ``lines`` of the text.
        """
        ad = self._open
        found = _Part(part.cells[start:end], part.numbers[start:end], part.texts[start:end])
        if ad is None:
            lines = lines[_comments(found, lines.start) :] if found.texts else lines
            if not lines:
                return
            ad = self._open = _Open(lines.start, guarded=self._sieve is not None)  # it sees no secrets
        if ad.problem or start == end:
            return
        if found.texts:
            self._look(ad, found)
        ad.parts.append(found)
        ad.size += end - start
        if ad.size > MAX_ATTRIBUTES and ad.problem is None:
            source = Source(self._file, ad.line)
            ad.problem = set_aside(source, f"it has more than {MAX_ATTRIBUTES} attributes")

    def _look(self, ad: _Open, part: _Part) -> None:
        """See what else than attributes there is among the lines of an ad: secrets, and what does not parse."""
        for place in np.flatnonzero(part.cells <= _BAD).tolist():
            if part.cells[place] == _SECRET:
                ad.guarded = True
            elif part.cells[place] == _BAD and ad.problem is None:
                ad.problem = self._problem(ad, part.texts[place], int(part.numbers[place]))
        kept = part.cells >= 0
        part.cells, part.numbers = part.cells[kept], part.numbers[kept]

    def _done(self, ad: _Open) -> Found:
        self._open = None
        if ad.problem:
            return ad.problem
        cells = np.concatenate([_NONE, *(part.cells for part in ad.parts)])
        numbers = np.concatenate([_NONE, *(part.numbers for part in ad.parts)])
        return self._found(cells, numbers, ad.line)

    def _found(self, row: Row, numbers: NDArray[np.int64], line: int) -> Found:
        """Give the ad of these attributes, which begins in a line; ``numbers`` are their lines."""
        found = self._dictionary.ad(row)
        if _TYPE in found.shape.repeated:
            names = [fold(self._dictionary.name(cell)) for cell in row.tolist()]
            second = int(numbers[names.index(_TYPE, names.index(_TYPE) + 1)])
            message = f"a second MyType: the ad that begins at line {line} runs into another one"
            return set_aside(Source(self._file, second), message, "part ads by a blank line")
        return FoundAd(found, Source(self._file, line))

    def _problem(self, ad: _Open, line: str, number: int) -> Problem:
        """Say what is wrong with a line; of one below a secret, no more than that."""
        if ad.guarded:
            return set_aside(Source(self._file, number), "a line below a secret does not parse", _hint(ad))
        try:
            column, message, shown = _fault(line, self._dictionary)
        except TooManyNamesError as error:
            return set_aside(Source(self._file, number, 1), str(error), _hint(ad))
        return set_aside(Source(self._file, number, column), message, _hint(ad), shown)


def _comments(part: _Part, line: int) -> int:
    """Return how many comments there are from a line on, without another line among them."""
    leading = (part.cells == _COMMENT) & (part.numbers == line + np.arange(len(part.numbers)))
    return len(leading) if leading.all() else int(leading.argmin())


def _odd(text: str, name: str) -> int:
    """Return what a line is that is no attribute as HTCondor prints them."""
    if not text or text.startswith(("***", "-- ")):
        return _END
    if text[0] == "#":
        return _COMMENT
    return _SECRET if is_secret(name) else _BAD


def _fault(line: str, dictionary: Dictionary) -> tuple[int, str, str]:
    """Return where a line is wrong, what is wrong with it, and the line if it may be shown.

    Raises ``TooManyNamesError`` where that is its fault.
    """
    if len(line) > MAX_LINE:
        return 0, f"a line has more than {MAX_LINE} characters", ""
    name, equals, right = line.partition("=")
    name = name.strip()
    if not equals:
        return 1, "a line has no '='", line
    if not name or "\0" in name:
        return 1, "a line has no name left of its '='", line
    try:
        parse_old(right.strip())
    except ParseError as error:
        column = len(line) - len(right.lstrip()) + error.column
        return column, not_parsed(name, error), line
    dictionary.spelling(name)
    raise AssertionError("the line is in order")  # pragma: no cover


def _hint(ad: _Open) -> str:
    return f"the ad begins at line {ad.line}; mend or remove this line"
