"""Reads the lines of ads in long form, one by one: those that the dictionary does not know are parsed in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ParseError
from negotiator.classad.syntax import LITERAL, fold, tokenize
from negotiator.classad.tables import BLANK, UNKNOWN, TooManyNamesError
from negotiator.pool.limits import MAX_AD, MAX_ATTRIBUTES, MAX_LINE
from negotiator.pool.parsed_ad import ParsedAd, ReadResult, ad_problem, parse_message
from negotiator.pool.reading_budget import (
    BUDGET_HINT,
    FREE,
    PLAIN_ATTRIBUTES,
    VALUE_BYTES,
    ReadingBudget,
    cost_of_lines,
    cost_of_row,
    owner_of_lines,
)
from negotiator.pool.secrets import is_secret
from negotiator.pool.vault import Secret, claim_ids
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from negotiator.classad.tables import AdDictionary, Row
    from negotiator.pool.reading_budget import AdCost

_TYPE: Final = "mytype"

# Marks for lines that are no attribute. Cells of attributes are 0 or more.
_END: Final = BLANK
_SECRET: Final = BLANK - 1
_COMMENT: Final = BLANK - 2


class _LineFault(NamedTuple):
    """What is wrong with a line, in which column, and the line itself if it may be shown."""

    message: str
    column: int = 1
    shown: str = ""


@attrs.define
class _OpenAd:
    """The lines of an ad whose end was not read yet: their texts, and the cells of those that are known."""

    line: int
    """The number of the first line."""
    texts: list[str] = attrs.field(factory=list)
    cells: list[Row] = attrs.field(factory=list)
    size: int = 0
    problem: Problem | None = None

    def add(self, texts: list[str], cells: Row) -> None:
        self.texts += texts
        self.cells.append(cells)
        self.size += sum(map(len, texts))


class LineReader:
    """Reads a text block by block; an ad may begin in one block and end in another.

    Lines that the dictionary does not know are parsed when the end of their ad was read: then its owner is known, whose
    budget must have room for them.
    """

    __slots__ = ("_budget", "_dictionary", "_file", "_keep_claims", "_open")

    def __init__(
        self, file: str, dictionary: AdDictionary, budget: ReadingBudget, *, keep_claims: bool
    ) -> None:
        self._file = file
        self._dictionary = dictionary
        self._budget = budget
        self._keep_claims = keep_claims
        self._open: _OpenAd | None = None

    @property
    def is_within_ad(self) -> bool:
        """True if the end of the last ad was not read yet."""
        return self._open is not None

    def read(
        self, texts: list[str], numbers: Sequence[int], before: Callable[[int], None] | None = None
    ) -> Iterator[ReadResult]:
        """Read further lines with these numbers; yield the ads that end in them.

        Only lines between ads may be left out. ``before`` is called with the number of the first line of an ad before an
        expression of it is parsed.
        """
        cells = self._cells_of(texts)
        ends = np.flatnonzero(cells == _END)
        # An ad is plain if all its lines are attributes with known cells.
        others = np.flatnonzero((cells < 0) & (cells != _END))
        bounds = np.searchsorted(others, ends).tolist()
        waiting = others.tolist()
        start, begin = 0, 0  # of the ad: its indices
        for end, stop in zip(ends.tolist(), bounds, strict=True):
            if self._open is not None:
                self._extend(self._open, texts[start:end], cells[start:end])
                yield from self.end()
            elif start == end:
                pass
            elif begin == stop and end - start <= PLAIN_ATTRIBUTES:
                yield self._parsed(cells[start:end], None, numbers[start])
            else:
                places = [place - start for place in waiting[begin:stop]]
                if before is not None:
                    before(numbers[start])
                yield from self._ad(texts[start:end], cells[start:end], places, numbers[start])
            start, begin = end + 1, stop
        if start < len(texts):
            self._open = self._open or _OpenAd(numbers[start])
            self._extend(self._open, texts[start:], cells[start:])

    def read_whole(self, texts: list[str], numbers: Sequence[int]) -> list[ReadResult]:
        """Read an ad with the blank line below it, also while the end of another ad was not read yet."""
        waiting, self._open = self._open, None
        results = list(self.read(texts, numbers))
        self._open = waiting
        return results

    def end(self) -> Iterator[ReadResult]:
        """Yield the last ad if no blank line ended it."""
        ad, self._open = self._open, None
        if ad is None:
            return
        if ad.problem is not None:
            yield ad.problem
        else:
            cells = np.concatenate(ad.cells)
            yield from self._ad(ad.texts, cells, np.flatnonzero(cells < 0).tolist(), ad.line)

    def _extend(self, ad: _OpenAd, texts: list[str], cells: Row) -> None:
        """Add lines to an ad that the block before did not end, unless it is too long already."""
        if ad.problem is not None:
            return
        ad.add(texts, cells)
        if ad.size > MAX_AD:
            ad.problem = self._too_long(ad.line)
            ad.texts.clear()
            ad.cells.clear()

    def _cells_of(self, texts: list[str]) -> Row:
        """Return the cells or marks of lines; UNKNOWN for attributes that must be parsed."""
        cells = self._dictionary.known_cells(texts)
        unknown = np.flatnonzero(cells == UNKNOWN)
        # A line that begins with a letter ends no ad; most names begin with one.
        cells[unknown] = [
            UNKNOWN if "A" <= texts[index][0] <= "z" else _mark(texts[index]) for index in unknown.tolist()
        ]
        small = self._within_allowance(texts, cells)
        cells[small] = self._dictionary.constant_cells([texts[index] for index in small.tolist()])
        return cells

    def _within_allowance(self, texts: list[str], cells: Row) -> NDArray[np.int64]:
        """Return the indices of the unknown lines of all ads whose unknown lines together cost nothing."""
        unknown = np.flatnonzero(cells == UNKNOWN)
        sizes = np.fromiter((len(texts[index]) for index in unknown.tolist()), np.int64, len(unknown))
        ad = np.searchsorted(np.flatnonzero(cells == _END), unknown)
        cost = np.bincount(ad, sizes + VALUE_BYTES)
        return unknown[(cost <= FREE.text)[ad]] if len(unknown) else unknown

    def _ad(self, texts: list[str], cells: Row, places: list[int], line: int) -> Iterator[ReadResult]:
        """Yield the ad of these lines, or what is wrong with it; nothing if there are comments only.

        ``places``: the indices of the lines without a cell.
        """
        comments = _leading_comments(cells)
        if comments == len(cells):
            return
        if sum(map(len, texts)) > MAX_AD:
            yield self._too_long(line)
            return
        if comments:
            texts, cells, line = texts[comments:], cells[comments:], line + comments
            places = [place - comments for place in places[comments:]]
        end = _end_of_attributes(texts, cells)
        unknown = [place for place in places if place < end and cells[place] == UNKNOWN]
        problem = self._over_budget(texts, cells[:end], unknown, line)
        if problem is None:
            yield self._resolved(texts, cells[:end], places, line)
        else:
            yield problem if end == len(cells) else self._too_many(line)

    def _over_budget(self, texts: list[str], cells: Row, unknown: list[int], line: int) -> Problem | None:
        """Charge an ad's owner for the unknown lines; return the problem if their budget has no room for them."""
        lines = [texts[place] for place in unknown]
        return self._charge(cost_of_lines(lines, self._dictionary), cells, lines, line) if lines else None

    def _charge(self, cost: AdCost, row: Row, lines: list[str], line: int) -> Problem | None:
        if self._budget.is_free(cost):
            return None
        owner = owner_of_lines(row[row >= 0], lines, self._dictionary, self._file)
        message = self._budget.charge(owner, cost)
        return ad_problem(Source(self._file, line), message, BUDGET_HINT) if message else None

    def _resolved(self, texts: list[str], cells: Row, places: list[int], line: int) -> ReadResult:
        """Return the ad after its unknown lines were parsed, down to the first faulty one."""
        claims: list[Secret] = []
        fault: _LineFault | None = None
        plain = True
        for place in places:
            if place >= len(cells) or cells[place] != UNKNOWN:
                plain = False
                continue
            found = self._cell(texts[place], claims)
            if isinstance(found, _LineFault):
                cells, fault = cells[:place], found
                break
            cells[place] = found
            plain &= found >= 0
        if plain and fault is None and len(cells) <= MAX_ATTRIBUTES:
            return self._parsed(cells, None, line)
        attributes = np.flatnonzero(cells >= 0)
        row, numbers = cells[attributes], attributes + line
        if len(row) > MAX_ATTRIBUTES:
            return self._too_many(line)
        if fault is not None:
            guarded = bool((cells == _SECRET).any())
            second = self._second_type(row, numbers, line)
            return second or self._fault_problem(fault, line + len(cells), line, guarded=guarded)
        return self._parsed(row, numbers, line, tuple(claims))

    def _too_long(self, line: int) -> Problem:
        return ad_problem(Source(self._file, line), f"it has more than {MAX_AD} characters")

    def _too_many(self, line: int) -> Problem:
        return ad_problem(Source(self._file, line), f"it has more than {MAX_ATTRIBUTES} attributes")

    def _cell(self, line: str, claims: list[Secret]) -> int | _LineFault:
        """Return the cell or mark of a line that the dictionary did not know; add the claim ids in it to ``claims``."""
        name, equals, right = line.partition("=")
        name = name.strip()
        if not equals or not name or "\0" in name or len(line) > MAX_LINE:
            return _SECRET if is_secret(name) else _malformed(line, equals)
        try:
            cell = self._dictionary.cell(line, name, right.strip())
        except ParseError as error:
            column = len(line) - len(right.lstrip()) + error.column
            return _LineFault(parse_message(name, error), column, line)
        except TooManyNamesError as error:
            return _LineFault(str(error))
        if cell is None:
            if self._keep_claims:
                claims += claim_ids(name, _string(right))
            return _SECRET
        return cell

    def _parsed(
        self, row: Row, numbers: NDArray[np.int64] | None, line: int, claims: tuple[Secret, ...] = ()
    ) -> ReadResult:
        """Return the ad of these cells; ``numbers`` are their lines (None: without a gap), ``line`` is the ad's first."""
        if len(row) > PLAIN_ATTRIBUTES:
            problem = self._charge(cost_of_row(row, self._dictionary), row, [], line)
            if problem is not None:
                return problem
        ad = self._dictionary.ad(row)
        if _TYPE in ad.shape.repeated and (second := self._second_type(row, numbers, line)):
            return second
        return ParsedAd(ad, Source(self._file, line), claims)

    def _second_type(self, row: Row, numbers: NDArray[np.int64] | None, line: int) -> Problem | None:
        """Return the problem of an ad with two MyTypes: two ads that a joined file does not separate."""
        names = [fold(self._dictionary.name(cell)) for cell in row.tolist()]
        types = [index for index, name in enumerate(names) if name == _TYPE]
        if len(types) < 2:
            return None
        message = f"a second MyType: the ad that begins at line {line} runs into another one"
        source = Source(self._file, line + types[1] if numbers is None else int(numbers[types[1]]))
        return ad_problem(source, message, "separate ads by a blank line")

    def _fault_problem(self, fault: _LineFault, number: int, line: int, *, guarded: bool) -> Problem:
        """Return the problem of a faulty line; after a secret the message has the position only."""
        message, column, shown = fault
        if guarded:
            message, shown = "a line below a secret does not parse", ""
        hint = f"the ad begins at line {line}; mend or remove this line"
        return ad_problem(Source(self._file, number, column), message, hint, shown)


def _ends(text: str) -> bool:
    """True if a line, without blanks around it, ends an ad."""
    return not text or text.startswith(("***", "-- "))


def _mark(line: str) -> int:
    """Return the mark of a line that ends an ad or is a comment; UNKNOWN for all others."""
    text = line.strip()
    if _ends(text):
        return _END
    return _COMMENT if text[0] == "#" else UNKNOWN


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


def _end_of_attributes(texts: list[str], cells: Row) -> int:
    """Return the index after the first attribute beyond ``MAX_ATTRIBUTES``; the number of lines if there is none."""
    if len(cells) <= MAX_ATTRIBUTES:
        return len(cells)
    attributes = (cells >= 0) | (cells == UNKNOWN)
    if np.count_nonzero(attributes) > MAX_ATTRIBUTES:
        for place in np.flatnonzero(cells == UNKNOWN).tolist():
            attributes[place] = not is_secret(texts[place].partition("=")[0])
        further = np.flatnonzero(attributes)[MAX_ATTRIBUTES:]
        return int(further[0]) + 1 if len(further) else len(cells)
    return len(cells)


def _leading_comments(cells: Row) -> int:
    """Return the number of comment lines before the first other line."""
    if cells[0] != _COMMENT:
        return 0
    others = np.flatnonzero(cells != _COMMENT)[:1].tolist()
    return others[0] if others else len(cells)
