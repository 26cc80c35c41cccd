"""Data that the ads of a pool share, stored once: names, lines of long form, the distinct expressions of each attribute.

An ad is a *row*: one *cell* of 64 bits for each attribute, made of the number of its name as spelled and the code of its
expression. A line of long form that was seen before costs one dictionary look-up, and rows become the columns of a table
without any look at their values.
"""

from __future__ import annotations

import hashlib
import re
from abc import abstractmethod
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Final, TypeAlias, overload

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.scalar import Ad
from negotiator.classad.syntax import ClassAdError, Literal, NameIndex, fold, index_names, parse_old
from negotiator.classad.tables.column import StringPool
from negotiator.classad.tables.distinct_values import EQUALS, AttributeSpelling, DistinctValues

if TYPE_CHECKING:
    from collections.abc import Callable

    from negotiator.classad.syntax import Expr, LiteralValue

Row: TypeAlias = NDArray[np.int64]
"""An ad as numbers, one cell for each attribute, in the order in which they are written."""

UNKNOWN: Final = -2
"""Mark of a line whose cell is not known yet."""

BLANK: Final = -3
"""Mark of the empty line, which is in every text, so that it costs no more than a known line."""

MAX_NAMES: Final = 250_000
"""Distinct spellings of names in all ads of a pool, the last resort: each takes up to 2 KB."""

MAX_LINES: Final = 1 << 17
"""Lines remembered, of all attributes together; when it is reached, all are forgotten."""

MAX_REMEMBERED_LINE: Final = 2048
"""Longest line that is remembered by its text, in characters; longer ones are remembered by their digest."""

INTEGER_DIGITS: Final = 18
"""An integer of so many digits is less than 2**63."""

_CODE_BITS: Final = 32
_CODE_MASK: Final = (1 << _CODE_BITS) - 1
_REAL: Final = re.compile(r"-?[0-9]{1,30}\.[0-9]{1,30}", re.ASCII)


def spelling_numbers(row: Row) -> NDArray[np.int64]:
    """Return the numbers of the spellings in a row, or in many rows."""
    return row >> _CODE_BITS


def codes_of(row: Row) -> NDArray[np.int32]:
    """Return the codes of the expressions in a row, or in many rows."""
    return row.astype(np.int32)  # the lower half


def pack_row(spellings: NDArray[np.int64], entries: NDArray[np.int64]) -> Row:
    """Return the row of these spellings and codes."""
    return spellings << _CODE_BITS | entries


@attrs.frozen(eq=False)
class AdLayout:
    """The names of an ad, in order, shared by all ads with the same names.

    ``spellings`` are the numbers of the names as spelled, ``attributes`` the names in lower case; each attribute once.
    """

    shape: NameIndex
    spellings: NDArray[np.int64]
    attributes: tuple[str, ...]

    def names(self, dictionary: AdDictionary) -> tuple[str, ...]:
        """Return the names as spelled, each attribute once."""
        return tuple([dictionary.name(spelling << _CODE_BITS) for spelling in self.spellings.tolist()])

    @classmethod
    def from_spellings(cls, shape: NameIndex, spellings: NDArray[np.int64]) -> AdLayout:
        """Return the layout of rows with these names."""
        if shape.pick is not None:
            _, first = np.unique(
                np.array([shape.index[fold(name)] for name in shape.given]), return_index=True
            )
            spellings = spellings[first]
        return cls(shape, spellings, tuple(shape.index))


class TooManyNamesError(ClassAdError, ValueError):
    """An ad has an attribute with a new name, and there are ``MAX_NAMES`` already."""

    def __init__(self) -> None:
        super().__init__(f"the ads have more than {MAX_NAMES} attributes of different names")


class AdDictionary:
    """The names, lines and expressions of the ads of a pool; it only grows.

    Attributes for whose name ``secret`` is true are never stored.
    """

    __slots__ = (
        "_in_lines", "_layouts", "_literals", "_long_lines", "_named", "_numbered", "_parsed", "_secret", "_spellings",
        "entries", "lines", "pool",
    )  # fmt: skip

    def __init__(self, secret: Callable[[str], bool] = lambda _: False) -> None:
        self.pool = StringPool()
        self.lines: dict[str, int] = {"": BLANK}
        """Lines of long form, without newlines, and their cells."""
        self.entries: dict[str, DistinctValues] = {}
        """The distinct expressions of each attribute, by its name in lower case."""
        self._secret = secret
        self._spellings: dict[str, AttributeSpelling] = {}
        self._in_lines: dict[str, AttributeSpelling] = {}
        """The valid names of the long form. A name from JSON may be a comment there, or contain ``=``."""
        self._numbered: list[AttributeSpelling] = []
        self._layouts: dict[bytes, AdLayout] = {}
        self._literals: dict[tuple[int, type, object], int] = {}
        self._parsed: dict[str, Expr] = {}
        self._long_lines: dict[bytes, int] = {}
        self._named: dict[frozenset[str], bytearray] = {}
        """For each set of names, which spellings have one of them."""

    def layout(self, names: tuple[str, ...]) -> AdLayout:
        """Return the layout of ads with these names, without those of secrets."""
        spellings = [spelling for name in names if (spelling := self.spelling(name)) is not None]
        return self._normalise(np.array([spelling.base for spelling in spellings], np.int64))[0]

    def spelling(self, name: str) -> AttributeSpelling | None:
        """Return the spelling of a name, added if it is new; None for the name of a secret.

        :raises TooManyNamesError: there is no room for another name.
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

    def is_new_name(self, name: str) -> bool:
        """True if ``spelling`` would add this name."""
        return name not in self._spellings and not self._secret(name)

    def is_parsed(self, text: str) -> bool:
        """True if this text of an expression was parsed before."""
        return text in self._parsed

    def remembers(self, line: str) -> bool:
        """True if the cell of this line is remembered."""
        if len(line) > MAX_REMEMBERED_LINE:
            return _digest(line) in self._long_lines
        return line in self.lines

    def has_layout(self, row: Row) -> bool:
        """True if an ad had the names of this row, in their order."""
        return spelling_numbers(row).tobytes() in self._layouts

    def known_cells(self, texts: Sequence[str]) -> Row:
        """Return the cells of lines seen before; ``UNKNOWN`` for all others."""
        return np.fromiter(map(self.lines.get, texts, repeat(UNKNOWN)), np.int64, len(texts))

    def constant_cells(self, texts: list[str]) -> list[int]:
        """Return the cells of lines seen before, and of lines ``Name = constant`` whose name was seen before.

        ``UNKNOWN`` for all other lines: ``cell`` parses them one by one.
        """
        spellings = self._in_lines
        cells = []
        for line in texts:
            name, _, text = line.partition(EQUALS)
            spelling = spellings.get(name)
            if spelling is None or not text:
                cells.append(self.lines.get(line, UNKNOWN))
            elif spelling.remembers_lines:
                cells.append(self._constant_cell(line, spelling, text))
            else:
                cells.append(_plain(spelling.base, spelling.entries, text))
        return cells

    def line_spellings(self, texts: list[str]) -> list[AttributeSpelling] | None:
        """Return the spelling of the name in each line ``Name = value``; None if a name is new, or two are the same."""
        parts = [line.partition(EQUALS) for line in texts]
        found = [self._in_lines.get(name) if equals else None for name, equals, _ in parts]
        spellings = [spelling for spelling in found if spelling is not None]
        distinct = len({id(spelling.entries) for spelling in spellings})
        return spellings if distinct == len(texts) else None

    def codes_of_lines(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the code of the value in each line ``Name = value``; -1 if it is neither a constant nor known.

        No expressions are added to the attributes: those that are parsed already, but are not among the values of their
        attribute, get -1 too.
        """
        cells = self.known_cells(texts)
        if (new := np.flatnonzero(cells == UNKNOWN)).size:
            lines = [texts[place] for place in new.tolist()]
            cells[new] = [
                self._stored_cell(line) if cell == UNKNOWN else cell
                for line, cell in zip(lines, self.constant_cells(lines), strict=True)
            ]
        return np.where(cells < 0, -1, cells & _CODE_MASK)

    def code_of_line(self, line: str) -> int:
        """Return the code of the value in a line ``Name = value`` that was seen before, or whose text was parsed; else -1.

        A text that was parsed for another attribute is added to the values of this one.
        """
        cell = self.lines.get(line, UNKNOWN)
        cell = self._stored_cell(line, add=True) if cell == UNKNOWN else cell
        return -1 if cell < 0 else cell & _CODE_MASK

    def _stored_cell(self, line: str, *, add: bool = False) -> int:
        """Return the cell of a line ``Name = expression`` that is too long to be remembered, or one of the values.

        ``add``: also of an expression that was parsed for another attribute.
        """
        if len(line) > MAX_REMEMBERED_LINE:
            return self._long_lines.get(_digest(line), UNKNOWN)
        name, _, text = line.partition(EQUALS)
        spelling, expr = self._in_lines.get(name), self._parsed.get(text)
        if spelling is None or expr is None or not (add or spelling.entries.holds(expr)):
            return UNKNOWN
        return spelling.base | spelling.entries.add(expr)

    def _constant_cell(self, line: str, spelling: AttributeSpelling, text: str) -> int:
        """Return the cell of a line ``Name = constant`` and remember it; ``UNKNOWN`` if it is not a constant."""
        cell = self.lines.get(line, UNKNOWN)  # it may have been read further up in the same block
        if cell == UNKNOWN:
            cell = _plain(spelling.base, spelling.entries, text)
            if cell != UNKNOWN:
                self._remember(line, spelling, cell)
        return cell

    def cell(self, line: str, name: str, text: str) -> int | None:
        """Return the cell of a line: the attribute ``name``, with ``text`` right of the ``=``; None for a secret.

        :raises ParseError: the text is not an expression.
        :raises TooManyNamesError: there is no room for another name.
        """
        spelling = self.spelling(name)
        if spelling is None:
            return None
        cell = self._cell(line, spelling, text)
        if len(line) <= MAX_REMEMBERED_LINE:
            self._in_lines[name] = spelling
        return cell

    def _cell(self, line: str, spelling: AttributeSpelling, text: str) -> int:
        """Return the cell of a line with this spelling of its name, and ``text`` right of the ``=``."""
        if len(line) > MAX_REMEMBERED_LINE:
            return self._long_cell(line, spelling, text)
        known = self.lines.get(line)  # it may have been read further up in the same block
        if known is not None:
            return known
        cell = spelling.base | spelling.entries.add(self._parse(text))
        if spelling.remembers_lines:
            self._remember(line, spelling, cell)
        return cell

    def parsed_code(self, line: str) -> int:
        """Parse the value in a line ``Name = value`` of a name seen before; return its code.

        :raises ParseError: it is not an expression.
        """
        name, _, text = line.partition(EQUALS)
        return self._cell(line, self._in_lines[name], text.strip()) & _CODE_MASK

    def _long_cell(self, line: str, spelling: AttributeSpelling, text: str) -> int:
        digest = _digest(line)
        cell = self._long_lines.get(digest)
        if cell is None:
            cell = spelling.base | spelling.entries.add(self._parse(text))
            if len(self._long_lines) >= MAX_LINES:
                self._long_lines.clear()
            self._long_lines[digest] = cell
        return cell

    def _parse(self, text: str) -> Expr:
        """Parse the text of an expression once."""
        expr = self._parsed.get(text)
        if expr is None:
            expr = parse_old(text)
            if type(expr) is not Literal:  # the tree stays in the entries anyway
                self._parsed[text] = expr
        return expr

    def _remember(self, line: str, spelling: AttributeSpelling, cell: int) -> None:
        if len(line) > MAX_REMEMBERED_LINE:
            return
        if len(self.lines) >= MAX_LINES:
            self.lines = {"": BLANK}
            for each in self._spellings.values():
                # Others have a new value in most ads: storing these lines would not save a look-up.
                if each.remembers_lines:
                    each.lines = 0
        spelling.lines += 1
        self.lines[line] = cell

    def row(self, ad: Ad) -> tuple[AdLayout, Row]:
        """Return an ad as a row, without its secrets. Raises ``TooManyNamesError``."""
        exprs = ad.expressions
        if isinstance(exprs, RowExpressions) and exprs.dictionary is self:
            return exprs.layout, exprs.row()
        cells = [self._cell_of(name, expr) for name, expr in ad.items()]
        return self._normalise(np.array([cell for cell in cells if cell is not None], np.int64))

    def holds(self, name: str, expr: Expr) -> bool:
        """True if this tree, or an equal constant, was stored as a value of the attribute before."""
        spelling = self._spellings.get(name)
        if spelling is None:
            return False
        if type(expr) is Literal and _literal_key(spelling, expr) in self._literals:
            return True
        return spelling.entries.holds(expr)

    def _cell_of(self, name: str, expr: Expr) -> int | None:
        spelling = self.spelling(name)
        if spelling is None:
            return None
        if type(expr) is not Literal or expr.relative_time:
            return spelling.base | spelling.entries.add(expr)
        key = _literal_key(spelling, expr)
        cell = self._literals.get(key)
        if cell is None:
            if len(self._literals) >= MAX_LINES:
                self._literals.clear()
            cell = self._literals[key] = spelling.base | spelling.entries.add(expr)
        return cell

    def _normalise(self, row: Row) -> tuple[AdLayout, Row]:
        """Return a row with each attribute once: the last value counts, at the position and in the spelling of the first."""
        key = spelling_numbers(row).tobytes()
        layout = self._layouts.get(key)
        if layout is None:
            names = tuple([self._numbered[number].name for number in spelling_numbers(row).tolist()])
            layout = self._layouts[key] = AdLayout.from_spellings(index_names(names), spelling_numbers(row))
        pick = layout.shape.pick
        return layout, row if pick is None else pack_row(layout.spellings, row[list(pick)] & _CODE_MASK)

    def expr(self, cell: int) -> Expr:
        """Return the expression of a cell."""
        return self._numbered[cell >> _CODE_BITS].entries.require(cell & _CODE_MASK)

    def cells_named(self, row: Row, names: frozenset[str]) -> list[int]:
        """Return the cells of a row that have one of these names, given in lower case."""
        if not len(row):
            return []
        marks = self._named.setdefault(names, bytearray())
        marks.extend(fold(each.name) in names for each in self._numbered[len(marks) :])
        cells: list[int] = row[np.frombuffer(marks, np.bool_)[spelling_numbers(row)]].tolist()
        return cells

    def name(self, cell: int) -> str:
        """Return the name of a cell's attribute, as spelled."""
        return self._numbered[cell >> _CODE_BITS].name

    def ad(self, row: Row) -> Ad:
        """Return a row as an ad, whose expressions are made on demand."""
        layout, row = self._normalise(row)
        return Ad.of(layout.shape, _HeldExpressions(self, layout, row))

    def intern(self, ad: Ad) -> Ad:
        """Return the ad stored as numbers of this dictionary, without its secrets. Raises ``TooManyNamesError``."""
        layout, row = self.row(ad)
        return Ad.of(layout.shape, _HeldExpressions(self, layout, row))


class RowExpressions(Sequence["Expr"]):
    """The expressions of an ad that is stored as codes of a dictionary; trees are made on demand."""

    __slots__ = ("_known", "dictionary", "layout")

    def __init__(self, dictionary: AdDictionary, layout: AdLayout) -> None:
        self.dictionary = dictionary
        self.layout = layout
        self._known: dict[int, Expr] | None = None  # made when it is needed: most ads are never read

    @abstractmethod
    def row(self) -> Row:
        """Return the row of the ad."""

    @abstractmethod
    def code(self, place: int) -> int:
        """Return the code of the expression at an index, counted from 0."""

    def expr(self, place: int) -> Expr:
        """Return the expression at an index, counted from 0."""
        return self.dictionary.entries[self.layout.attributes[place]].require(self.code(place))

    def constant(self, place: int) -> LiteralValue:
        """Return the value of a constant at an index, counted from 0; UNDEFINED for any other expression."""
        return self.dictionary.entries[self.layout.attributes[place]].constant(self.code(place))

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
        if self._known is None:
            self._known = {}
        known = self._known.get(place)
        if known is None:
            if not 0 <= place < len(self.layout.attributes):
                raise IndexError(place)
            known = self._known[place] = self.expr(place)
        return known


class _HeldExpressions(RowExpressions):
    """The expressions of an ad that holds its row."""

    __slots__ = ("_row",)

    def __init__(self, dictionary: AdDictionary, layout: AdLayout, row: Row) -> None:
        super().__init__(dictionary, layout)
        self._row = row

    def row(self) -> Row:
        return self._row

    def code(self, place: int) -> int:
        return int(self._row[place]) & _CODE_MASK


def _literal_key(spelling: AttributeSpelling, literal: Literal) -> tuple[int, type, object]:
    value = literal.value
    return spelling.base, type(value), repr(value) if type(value) is float else value


def _digest(line: str) -> bytes:
    return hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _plain(base: int, entries: DistinctValues, text: str) -> int:
    """Return the cell of an integer, string or real in the form that HTCondor prints; ``UNKNOWN`` for anything else."""
    if (
        text.isdecimal()
        and text.isascii()
        and (text[0] != "0" or len(text) == 1)
        and len(text) <= INTEGER_DIGITS
    ):
        return base | entries.add_integer(int(text))
    if text[0] == '"' == text[-1]:
        plain = (
            text.count('"') == 2
            and "\\" not in text
            and "\0" not in text
            and len(text) <= MAX_REMEMBERED_LINE
        )
        return base | entries.add_string(text[1:-1]) if plain else UNKNOWN
    return base | entries.add_real(float(text)) if _REAL.fullmatch(text) else UNKNOWN
