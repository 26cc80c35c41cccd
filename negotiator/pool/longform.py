"""Reads long form, as ``condor_status -long``, ``condor_q -long`` and ``condor_history -long`` print it.

One attribute a line. Ads end at blank lines, at the ``***`` lines of history files, and at the ``-- Schedd: ...`` lines
of ``condor_q``; ``#`` begins a comment line. Where a line does not parse, HTCondor keeps the attributes above it and
loses the rest. Here the whole ad is set aside, since half an ad (without its Requirements, say) is a different ad. An ad
with more than ``MAX_ATTRIBUTES`` lines of attributes is set aside too.

Speed: a block of lines is looked up in the pool's dictionary at once, which returns a *cell* (attribute and value, as one
number) for each line. Only lines that the dictionary does not know are parsed in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ParseError
from negotiator.classad.syntax import LITERAL, fold, tokenize
from negotiator.classad.tables import BLANK, UNKNOWN, TooManyNamesError
from negotiator.pool.limits import MAX_ATTRIBUTES, MAX_LINE
from negotiator.pool.parsed_ad import ParsedAd, ReadResult, ad_problem, parse_message
from negotiator.pool.secrets import is_secret
from negotiator.pool.vault import Secret, claim_ids
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.classad.tables import AdDictionary, Row

_TYPE: Final = "mytype"

_PIECE: Final = 1 << 20
"""Characters that are split into lines at once."""

# Marks for lines that are no attribute. Cells of attributes are 0 or more.
_END: Final = BLANK
_BAD: Final = BLANK - 1
_SECRET: Final = BLANK - 2
_COMMENT: Final = BLANK - 3


def whole_lines(blocks: Iterable[str]) -> Iterator[str]:
    """Yield the text in blocks that end at the end of a line, without the last newline.

    A line longer than MAX_LINE is cut a little above that limit, so that memory stays bounded.
    """
    rest = ""
    for block in _pieces(blocks):
        end = block.rfind("\n")
        start = 0 if len(rest) <= MAX_LINE else block.find("\n")  # skip what remains of an overlong line
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


def read_long(
    blocks: Iterable[str], file: str, dictionary: AdDictionary, *, keep_claims: bool = False
) -> Iterator[ReadResult]:
    """Yield the ads of a text in long form, stored as numbers of the pool's ``dictionary``.

    Blocks may end anywhere; blocks of ten ads or more are read faster than those of one.
    """
    reader = _LongFormReader(file, dictionary, keep_claims=keep_claims)
    for block in whole_lines(blocks):
        yield from reader.read(block)
    yield from reader.end()


class _LineCells(NamedTuple):
    """Some lines: the cell or mark of each, and its line number in the file."""

    cells: Row
    numbers: NDArray[np.int64]

    def cut(self, start: int, end: int) -> _LineCells:
        return _LineCells(self.cells[start:end], self.numbers[start:end])

    def pick(self, which: NDArray[np.bool_]) -> _LineCells:
        return _LineCells(self.cells[which], self.numbers[which])


class _LineFault(NamedTuple):
    """The fault of a line, its column, and the line itself if it may be shown."""

    message: str
    column: int = 1
    shown: str = ""


@attrs.define
class _OpenAd:
    """An ad whose end was not read yet: its first line, and its attributes so far.

    ``guarded`` is true below a secret: a faulty line there may be a part of the secret.
    """

    line: int
    guarded: bool = False
    parts: list[_LineCells] = attrs.field(factory=list)
    size: int = 0
    problem: Problem | None = None
    claims: list[Secret] = attrs.field(factory=list)

    def add(self, attributes: _LineCells) -> None:
        self.parts.append(attributes)
        self.size += len(attributes.cells)

    def attributes(self) -> _LineCells:
        return _LineCells(*map(np.concatenate, zip(*self.parts, strict=True)))


class _LongFormReader:
    """Reads a text block by block; an ad may begin in one block and end in another."""

    __slots__ = ("_claims", "_dictionary", "_faults", "_file", "_keep_claims", "_line", "_open")

    def __init__(self, file: str, dictionary: AdDictionary, *, keep_claims: bool) -> None:
        self._file = file
        self._dictionary = dictionary
        self._keep_claims = keep_claims
        self._line = 1  # number of the first line of the next block
        self._open: _OpenAd | None = None
        self._faults: dict[int, _LineFault] = {}  # of the current block, by line number
        self._claims: dict[int, tuple[Secret, ...]] = {}  # likewise

    def read(self, block: str) -> Iterator[ReadResult]:
        """Read further lines; yield the ads that end in them."""
        if self._open is not None and self._open.problem is not None:
            rest = self._skip(block)
            if rest is None:
                return
            block = rest
        lines = self._cells_of(block)
        ends = np.flatnonzero(lines.cells == _END)
        others = np.flatnonzero(lines.cells < _END)
        # An ad is plain if all its lines are attributes: no fault, secret or comment since the end before.
        plain = np.diff(np.searchsorted(others, ends), prepend=0) == 0
        begin, start = (
            self._line,
            0,
        )  # of the current ad: its first line number, and its first index in `lines`
        self._line += block.count("\n") + 1
        for end, number, is_plain in zip(
            ends.tolist(), lines.numbers[ends].tolist(), plain.tolist(), strict=True
        ):
            if self._open is None and is_plain and end - start <= MAX_ATTRIBUTES:
                if begin < number:
                    yield self._parsed(lines.cells[start:end], lines.numbers[start:end], begin)
            else:
                self._continue(lines.cut(start, end), range(begin, number))
                if self._open is not None:
                    yield self._close(self._open)
            begin, start = number + 1, end + 1
        self._continue(lines.cut(start, len(lines.cells)), range(begin, self._line))

    def end(self) -> Iterator[ReadResult]:
        """Yield the last ad if no blank line ended it."""
        if self._open is not None:
            yield self._close(self._open)

    def _skip(self, block: str) -> str | None:
        """Return the block from the end of the faulty ad on; None if the ad does not end in this block."""
        texts = block.split("\n")
        for index, text in enumerate(texts):
            if _ends(text.strip()):
                self._line += index
                return "\n".join(texts[index:])
        self._line += len(texts)
        return None

    def _cells_of(self, block: str) -> _LineCells:
        """Return the cells of all lines of a block; faults and claim ids are stored by line number."""
        texts = block.split("\n")
        lines = _LineCells(self._dictionary.cells(texts), np.arange(len(texts)) + self._line)
        self._faults.clear()
        self._claims.clear()
        unknown = np.flatnonzero(lines.cells == UNKNOWN)
        lines.cells[unknown] = [self._cell(texts[index], index + self._line) for index in unknown.tolist()]
        return lines

    def _cell(self, line: str, number: int) -> int:
        """Return the cell or mark of a line that the dictionary did not know."""
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
        if cell is None:
            if self._keep_claims:
                self._claims[number] = claim_ids(name, _string(right))
            return _SECRET
        return cell

    def _continue(self, part: _LineCells, lines: range) -> None:
        """Add lines to the open ad, or open one; ``lines`` are the line numbers of ``part``."""
        if self._open is None:
            lines = lines[_leading_comments(part, lines.start) :]
            if not lines:
                return
            self._open = _OpenAd(lines.start)
        if self._open.problem is None:
            self._add(self._open, part)

    def _add(self, ad: _OpenAd, part: _LineCells) -> None:
        """Add attributes to an ad, down to the first faulty line."""
        bad = np.flatnonzero(part.cells == _BAD)[:1].tolist()
        above = part.cut(0, *bad) if bad else part
        secrets = above.numbers[above.cells == _SECRET].tolist()
        ad.guarded = ad.guarded or bool(secrets)
        ad.claims += [claim for number in secrets for claim in self._claims.get(number, ())]
        ad.add(above.pick(above.cells >= 0))
        if ad.size > MAX_ATTRIBUTES:
            source = Source(self._file, ad.line)
            ad.problem = ad_problem(source, f"it has more than {MAX_ATTRIBUTES} attributes")
        elif bad:
            second = self._second_type(*ad.attributes(), ad.line)
            ad.problem = second or self._fault_problem(ad, int(part.numbers[bad[0]]))

    def _close(self, ad: _OpenAd) -> ReadResult:
        self._open = None
        return ad.problem or self._parsed(*ad.attributes(), ad.line, tuple(ad.claims))

    def _parsed(
        self, row: Row, numbers: NDArray[np.int64], line: int, claims: tuple[Secret, ...] = ()
    ) -> ReadResult:
        """Return the ad of these cells; ``numbers`` are their lines, ``line`` is the ad's first."""
        ad = self._dictionary.ad(row)
        if _TYPE in ad.shape.repeated and (second := self._second_type(row, numbers, line)):
            return second
        return ParsedAd(ad, Source(self._file, line), claims)

    def _second_type(self, row: Row, numbers: NDArray[np.int64], line: int) -> Problem | None:
        """Return the problem of an ad with two MyTypes: two ads that a joined file does not separate."""
        names = [fold(self._dictionary.name(cell)) for cell in row.tolist()]
        types = [index for index, name in enumerate(names) if name == _TYPE]
        if len(types) < 2:
            return None
        message = f"a second MyType: the ad that begins at line {line} runs into another one"
        source = Source(self._file, int(numbers[types[1]]))
        return ad_problem(source, message, "separate ads by a blank line")

    def _fault_problem(self, ad: _OpenAd, number: int) -> Problem:
        """Return the problem of a faulty line; after a secret the message has the position only."""
        message, column, shown = self._faults[number]
        if ad.guarded:
            message, shown = "a line below a secret does not parse", ""
        hint = f"the ad begins at line {ad.line}; mend or remove this line"
        return ad_problem(Source(self._file, number, column), message, hint, shown)


def _ends(text: str) -> bool:
    """True if a line, without blanks around it, ends an ad."""
    return not text or text.startswith(("***", "-- "))


def _string(text: str) -> object:
    """Return the value of a string literal, None for anything else; unlike ``parse_old`` it caches nothing."""
    kind, token, _ = tokenize(text, old=True)[0]
    return token.value if kind == LITERAL else None


def _malformed(line: str, equals: str) -> _LineFault:
    """Return why a line is not of the form ``name = expression``."""
    if len(line) > MAX_LINE:
        return _LineFault(f"a line has more than {MAX_LINE} characters", 0)
    if not equals:
        return _LineFault("a line has no '='", 1, line)
    return _LineFault("a line has no name left of its '='", 1, line)


def _leading_comments(part: _LineCells, line: int) -> int:
    """Return the number of comment lines that follow each other from a line on."""
    leading = (part.cells == _COMMENT) & (part.numbers == line + np.arange(len(part.numbers)))
    return len(leading) if leading.all() else int(leading.argmin())
