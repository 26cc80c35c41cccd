"""What the ads of a pool have in common, written once: names, lines, and for each attribute its expressions by number.

An ad is a *row* then: for each of its attributes one number of 64 bits, made of the number of the name as it is
spelled and that of the expression. A line of long form that was seen before costs a dictionary look-up, and rows become
the columns of a table without a look at any value.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Final, TypeAlias, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.scalar import ClassAd
from negotiator.classad.syntax import ClassAdError, Literal, NameIndex, fold, index_names, parse_old
from negotiator.classad.tables.column import StringPool
from negotiator.classad.tables.distinct_values import DistinctValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.syntax import Expr

Row: TypeAlias = NDArray[np.int64]
"""An ad as numbers, one an attribute, in the order in which it is written."""

UNKNOWN: Final = -2
"""In the place of the cell of a line that was not made out."""

BLANK: Final = -3
"""The cell of the empty line, which is no attribute but in every text, and always known."""

MAX_NAMES: Final = 100_000
"""Names that are kept, as they are spelled, of all ads together: each has columns of its own, and takes up to 2 KB."""

MAX_LINES: Final = 1 << 17
"""Lines kept by their text, of all attributes together; then it begins anew."""

MAX_LINES_EACH: Final = 4096
"""Lines kept of one attribute: one with more values has a new one in most ads."""

MAX_KEPT_LINE: Final = 2048
"""Characters of a line that is kept."""

_CODE_BITS: Final = 32
_CODE_MASK: Final = (1 << _CODE_BITS) - 1
_DIGITS: Final = 18  # an integer of so many is less than 2**63
_REAL: Final = re.compile(r"-?[0-9]{1,30}\.[0-9]{1,30}", re.ASCII)


def spelling_numbers(row: Row) -> NDArray[np.int64]:
    """Return the numbers of the names of a row, or of many rows."""
    return row >> _CODE_BITS


def codes_of(row: Row) -> NDArray[np.int32]:
    """Return the entries of a row, or of many rows."""
    return row.astype(np.int32)  # the lower half


def packed(spellings: NDArray[np.int64], entries: NDArray[np.int64]) -> Row:
    """Return the row of these names and entries."""
    return spellings << _CODE_BITS | entries


@attrs.frozen(eq=False)
class AdLayout:
    """What ads of the same names in the same order share.

    ``spellings`` has the numbers of the names as they are spelled, ``attributes`` the names in lower case; both once
    an attribute.
    """

    shape: NameIndex
    spellings: NDArray[np.int64]
    attributes: tuple[str, ...]

    def names(self, dictionary: AdDictionary) -> tuple[str, ...]:
        """Return the names as they are spelled, each attribute once."""
        return tuple([dictionary.name(spelling << _CODE_BITS) for spelling in self.spellings.tolist()])

    @classmethod
    def of(cls, shape: NameIndex, spellings: NDArray[np.int64]) -> AdLayout:
        """Return the layout of rows with these names."""
        if shape.pick is not None:
            _, first = np.unique(
                np.array([shape.index[fold(name)] for name in shape.given]), return_index=True
            )
            spellings = spellings[first]
        return cls(shape, spellings, tuple(shape.index))


class TooManyNamesError(ClassAdError, ValueError):
    """An ad has an attribute of a new name, and there are ``MAX_NAMES`` already."""

    def __init__(self) -> None:
        super().__init__(f"the ads have more than {MAX_NAMES} attributes of different names")


class AttributeSpelling:
    """The spelling of an attribute's name.

    ``base`` is its number, shifted to the upper half of a cell; ``entries`` are the distinct values of the attribute;
    ``lines`` counts the lines with this name that the dictionary remembers.
    """

    __slots__ = ("base", "entries", "lines", "name")

    def __init__(self, name: str, base: int, entries: DistinctValues) -> None:
        self.name = name
        self.base = base
        self.entries = entries
        self.lines = 0


class AdDictionary:
    """The names, lines and expressions of the ads of a pool; it only grows.

    Attributes for whose name ``secret`` is true are never stored.
    """

    __slots__ = (
        "_in_lines", "_layouts", "_literals", "_numbered", "_secret", "_spellings",
        "entries", "lines", "pool",
    )  # fmt: skip

    def __init__(self, secret: Callable[[str], bool] = lambda _: False) -> None:
        self.pool = StringPool()
        self.lines: dict[str, int] = {"": BLANK}
        """Lines of long form, without their ends, and their cells."""
        self.entries: dict[str, DistinctValues] = {}
        """The entries of each attribute, by its name in lower case."""
        self._secret = secret
        self._spellings: dict[str, AttributeSpelling] = {}
        self._in_lines: dict[str, AttributeSpelling] = {}
        """Those that are names in long form: other forms have some that would be a comment there, or hold a ``=``."""
        self._numbered: list[AttributeSpelling] = []
        self._layouts: dict[bytes, AdLayout] = {}
        self._literals: dict[tuple[int, type, object], int] = {}

    def layout(self, names: tuple[str, ...]) -> AdLayout:
        """Return the layout of ads with these names; they are attributes that are kept."""
        spellings = [spelling for name in names if (spelling := self.spelling(name)) is not None]
        return self.normal(np.array([spelling.base for spelling in spellings], np.int64))[0]

    def spelling(self, name: str) -> AttributeSpelling | None:
        """Return what is known of a name as it is spelled, None where it is a secret's.

        Raises ``TooManyNamesError``.
        """
        found = self._spellings.get(name)
        if found is None:
            if self._secret(name):
                return None
            if len(self._numbered) >= MAX_NAMES:
                raise TooManyNamesError
            entries = self.entries.setdefault(fold(name), DistinctValues())
            found = AttributeSpelling(name, len(self._numbered) << _CODE_BITS, entries)
            self._numbered.append(found)
            self._spellings[name] = found
        return found

    def cells(self, texts: list[str]) -> Row:
        """Return the cells of lines seen before, and of lines ``Name = constant`` whose name was seen before.

        ``UNKNOWN`` for all other lines: ``cell`` parses them one by one.
        """
        found = np.fromiter(map(self.lines.get, texts, repeat(UNKNOWN)), np.int64, len(texts))
        spellings = self._in_lines
        places = np.flatnonzero(found == UNKNOWN)
        news = []
        for place in places.tolist():
            line = texts[place]
            name, _, text = line.partition(" = ")
            spelling = spellings.get(name)
            if spelling is None or not text:
                news.append(UNKNOWN)
            elif spelling.lines < MAX_LINES_EACH:
                news.append(self._new(line, spelling, text))
            else:
                news.append(_plain(spelling.base, spelling.entries, text))
        found[places] = news
        return found

    def _new(self, line: str, spelling: AttributeSpelling, text: str) -> int:
        """Return the cell of a plain line, and let it be known from now on."""
        cell = self.lines.get(line, UNKNOWN)  # as in ``cell``
        if cell == UNKNOWN:
            cell = _plain(spelling.base, spelling.entries, text)
            if cell != UNKNOWN:
                self._keep(line, spelling, cell)
        return cell

    def cell(self, line: str, name: str, text: str) -> int | None:
        """Return the cell of a line: the attribute ``name``, with ``text`` right of the ``=``.

        None for a secret. Raises ``ParseError`` and ``TooManyNamesError``.
        """
        spelling = self.spelling(name)
        if spelling is None:
            return None
        known = self.lines.get(line)  # it may stand further up among those that are read together
        if known is not None:
            return known
        cell = spelling.base | spelling.entries.add(parse_old(text))
        self._in_lines[name] = spelling
        if spelling.lines < MAX_LINES_EACH:
            self._keep(line, spelling, cell)
        return cell

    def _keep(self, line: str, spelling: AttributeSpelling, cell: int) -> None:
        if len(line) > MAX_KEPT_LINE:
            return
        if len(self.lines) >= MAX_LINES:
            self.lines = {"": BLANK}
            for each in self._spellings.values():
                if each.lines < MAX_LINES_EACH:  # the others have a new value in most ads
                    each.lines = 0
        spelling.lines += 1
        self.lines[line] = cell

    def row(self, ad: ClassAd) -> tuple[AdLayout, Row]:
        """Return an ad as a row, without its secrets. Raises ``TooManyNamesError``."""
        exprs = ad.expressions
        if isinstance(exprs, ExprsOfRow) and exprs.dictionary is self:
            return exprs.layout, exprs.row()
        cells = [self._cell_of(name, expr) for name, expr in ad.items()]
        return self.normal(np.array([cell for cell in cells if cell is not None], np.int64))

    def _cell_of(self, name: str, expr: Expr) -> int | None:
        spelling = self.spelling(name)
        if spelling is None:
            return None
        if type(expr) is not Literal:
            return spelling.base | spelling.entries.add(expr)
        value = expr.value
        key = (spelling.base, type(value), repr(value) if type(value) is float else value)
        cell = self._literals.get(key)
        if cell is None:
            if len(self._literals) >= MAX_LINES:
                self._literals.clear()
            cell = self._literals[key] = spelling.base | spelling.entries.add(expr)
        return cell

    def normal(self, row: Row) -> tuple[AdLayout, Row]:
        """Return a row in which each attribute stands once: the last counts, in the place and spelling of the first."""
        key = spelling_numbers(row).tobytes()
        layout = self._layouts.get(key)
        if layout is None:
            names = tuple([self._numbered[number].name for number in spelling_numbers(row).tolist()])
            layout = self._layouts[key] = AdLayout.of(index_names(names), spelling_numbers(row))
        pick = layout.shape.pick
        return layout, row if pick is None else packed(layout.spellings, row[list(pick)] & _CODE_MASK)

    def name(self, cell: int) -> str:
        """Return the name of the attribute of a cell, as it is spelled."""
        return self._numbered[cell >> _CODE_BITS].name

    def ad(self, row: Row) -> ClassAd:
        """Return a row as an ad, whose expressions are made when they are asked for."""
        layout, row = self.normal(row)
        return ClassAd.of(layout.shape, _ReadAd(self, layout, row))

    def kept(self, ad: ClassAd) -> ClassAd:
        """Return the ad stored as numbers of this dictionary, without its secrets. Raises ``TooManyNamesError``."""
        layout, row = self.row(ad)
        return ClassAd.of(layout.shape, _ReadAd(self, layout, row))


class ExprsOfRow(Sequence["Expr"]):
    """The expressions of an ad that is kept as numbers of a dictionary; trees are made when they are first asked for."""

    __slots__ = ("_known", "dictionary", "layout")

    def __init__(self, dictionary: AdDictionary, layout: AdLayout) -> None:
        self.dictionary = dictionary
        self.layout = layout
        self._known: dict[int, Expr] = {}

    @abstractmethod
    def row(self) -> Row:
        """Return the row of the ad."""

    @abstractmethod
    def expr(self, place: int) -> Expr:
        """Return the expression at a place, counted from 0."""

    def __len__(self) -> int:
        return len(self.layout.attributes)

    @overload
    def __getitem__(self, place: int) -> Expr: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Expr]: ...
    def __getitem__(self, place: int | slice) -> Expr | Sequence[Expr]:
        if isinstance(place, slice):
            return tuple([self[each] for each in range(len(self))[place]])
        if place < 0:
            place += len(self)
        known = self._known.get(place)
        if known is None:
            if not 0 <= place < len(self):
                raise IndexError(place)
            known = self._known[place] = self.expr(place)
        return known


class _ReadAd(ExprsOfRow):
    """The expressions of an ad whose row is at hand."""

    __slots__ = ("_row",)

    def __init__(self, dictionary: AdDictionary, layout: AdLayout, row: Row) -> None:
        super().__init__(dictionary, layout)
        self._row = row

    def row(self) -> Row:
        return self._row

    def expr(self, place: int) -> Expr:
        cell = int(self._row[place])
        return self.dictionary.entries[self.layout.attributes[place]].require(cell & _CODE_MASK)


def _plain(base: int, entries: DistinctValues, text: str) -> int:
    """Return the cell of an integer, a string or a real as they are printed, ``UNKNOWN`` for anything else."""
    if text.isdecimal() and text.isascii() and (text[0] != "0" or len(text) == 1) and len(text) <= _DIGITS:
        return base | entries.add_integer(int(text))
    if text[0] == '"' == text[-1]:
        plain = text.count('"') == 2 and "\\" not in text and "\0" not in text and len(text) <= MAX_KEPT_LINE
        return base | entries.add_string(text[1:-1]) if plain else UNKNOWN
    return base | entries.add_real(float(text)) if _REAL.fullmatch(text) else UNKNOWN
