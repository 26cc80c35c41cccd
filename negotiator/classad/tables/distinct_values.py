"""The distinct expressions of one attribute in all ads of a pool, by code, and the numbering of equal rows.

A pool has a hundred thousand ads, each with some attributes of unique value. So literal numbers and strings are stored as
numbers and strings; their trees are made on demand. No Python code runs for each row.
"""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.syntax import Expr, Literal, ReferenceScan, literal_value, scan, tree_key
from negotiator.classad.tables.column import (
    Column,
    IndexArray,
    StringPool,
    bits,
    from_cells,
    kind_of,
    make,
    scatter,
)
from negotiator.classad.tables.serialization import expression_tokens
from negotiator.classad.values import UNDEFINED, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from negotiator.classad.syntax import LiteralValue

ABSENT: Final = 0
"""The code of ads that do not have the attribute."""

_INTEGER: Final = int(Kind.INTEGER)
_STRING: Final = int(Kind.STRING)
_REAL: Final = struct.Struct("d")
_BITS: Final = struct.Struct("q")

MAX_LINES_EACH: Final = 4096
"""Lines remembered of one attribute: one with more values has a new one in most ads."""

EQUALS: Final = " = "
"""Between the name and the value of a line as HTCondor prints it."""


def number(keys: IndexArray, bound: int) -> tuple[IndexArray, IndexArray]:
    """Number equal keys, integers from 0 below ``bound``, by first appearance; return the numbers and the first rows."""
    size = len(keys)
    if bound <= 8 * size + 1024:  # a table by key is faster than sorting, unless it is much longer
        seen = np.full(bound, -1, np.int64)
        # The last assignment of a key wins: going backwards, that is its first row.
        seen[keys[::-1]] = np.arange(size - 1, -1, -1)
        first = np.sort(seen[seen >= 0])
        numbers = np.empty(bound, np.int64)
        numbers[keys[first]] = np.arange(len(first))
        return numbers[keys], first
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[inverse], first[order]


def group_values(columns: Iterable[Column], size: int) -> tuple[IndexArray, IndexArray]:
    """Number the rows that are equal, in kind and value, in all of these columns, as ``Table.group`` does.

    The columns have ``size`` rows and no values of kind OTHER. Reals are compared by their bits.
    """
    ids, first = np.zeros(size, np.int64), np.zeros(min(1, size), np.int64)
    for column in columns:
        for codes, bound in _codes(column):
            ids, first = number(ids * bound + codes, len(first) * bound)
    return ids, first


def _codes(column: Column) -> Iterable[tuple[IndexArray, int]]:
    """Yield arrays of integers, with their bounds, that are all equal in two rows exactly if the rows are."""
    if column.kinds.ndim:
        yield column.kinds.astype(np.int64), len(Kind)
    for kind, values in column.data.items():
        if values.ndim == 0:
            continue
        if kind is Kind.STRING:
            codes, bound = values.astype(np.int64), len(column.pool.strings)
        elif kind is Kind.BOOLEAN:
            codes, bound = values.astype(np.int64), 2
        else:
            distinct, codes = np.unique(values.view(np.int64), return_inverse=True)
            bound = len(distinct)
        yield np.where(column.where(kind), codes, 0), bound  # the array is arbitrary in rows of other kinds


@attrs.define(eq=False)
class _DistinctSnapshot:
    """Values computed from the entries, valid as long as their number is ``size``."""

    size: int
    column: Column
    canonical: IndexArray | None = None


class DistinctValues:
    """The entries of one attribute; an expression may have several, see ``canonical_codes``.

    The code of an entry is its index. An entry has a kind and a payload of 64 bits: the integer, the bits of the real, or
    the index of the string in ``texts`` or of the tree in ``trees``.
    """

    __slots__ = ("_kinds", "_payload", "_scans", "_snapshot", "_tokens", "_tree_codes", "texts", "trees")

    def __init__(self) -> None:
        self._kinds = array("B", (Kind.ABSENT,))
        self._payload = array("q", (0,))
        self.texts: list[str] = []
        self.trees: list[Expr] = []
        self._tree_codes: dict[int, int] = {}
        self._scans: dict[int, ReferenceScan] = {}
        self._tokens: dict[int, tuple[str, ...]] = {}
        self._snapshot: _DistinctSnapshot | None = None

    def __len__(self) -> int:
        return len(self._kinds)

    def _add(self, kind: int, payload: int) -> int:
        self._kinds.append(kind)
        self._payload.append(payload)
        return len(self._kinds) - 1

    def add_integer(self, value: int) -> int:
        """Add an integer; return its code.

        :raises OverflowError: it has more than 64 bits.
        """
        self._payload.append(value)
        self._kinds.append(_INTEGER)
        return len(self._kinds) - 1

    def add_real(self, value: float) -> int:
        """Add a real; return its code."""
        return self._add(Kind.REAL, _BITS.unpack(_REAL.pack(value))[0])

    def add_string(self, value: str) -> int:
        """Add a string; return its code."""
        self._payload.append(len(self.texts))
        self._kinds.append(_STRING)
        self.texts.append(value)
        return len(self._kinds) - 1

    def add(self, expr: Expr) -> int:
        """Add an expression; return its code."""
        if type(expr) is Literal and not expr.relative_time:
            value = expr.value
            if type(value) is int:
                return self.add_integer(value)
            if type(value) is float:
                return self.add_real(value)
            if type(value) is str:
                return self.add_string(value)
        code = self._tree_codes.get(id(expr))  # equal texts come shared from the parser's cache
        if code is None:
            self.trees.append(expr)
            code = self._tree_codes[id(expr)] = self._add(Kind.EXPRESSION, len(self.trees) - 1)
        return code

    def holds(self, expr: Expr) -> bool:
        """True if this tree is one of ``trees``."""
        return id(expr) in self._tree_codes

    def extend(self, kind: Kind, payloads: IndexArray) -> IndexArray:
        """Add integers, or reals by their bits; return their codes."""
        first = len(self._kinds)
        self._kinds.frombytes(bytes([kind]) * len(payloads))
        self._payload.frombytes(np.ascontiguousarray(payloads, np.int64).tobytes())
        return np.arange(first, len(self._kinds))

    def extend_strings(self, texts: Sequence[str]) -> IndexArray:
        """Add strings; return their codes."""
        place = len(self.texts)
        self.texts += texts
        return self.extend(Kind.STRING, np.arange(place, len(self.texts)))

    def constant(self, code: int) -> LiteralValue:
        """Return the value of an entry that is a constant; UNDEFINED for any other expression."""
        kind, payload = self._kinds[code], self._payload[code]
        if kind == _STRING:
            return self.texts[payload]
        if kind == _INTEGER:
            return payload
        expr = self.expr(code)
        return expr.value if isinstance(expr, Literal) else UNDEFINED

    def strings(self, codes: NDArray[np.int32]) -> list[str]:
        """Return the string of each of these entries, "" for all others."""
        kinds, payloads = self._read(codes)
        texts = self.texts
        if bool((kinds == _STRING).all()):
            return [texts[place] for place in payloads.tolist()]
        pairs = zip(kinds.tolist(), payloads.tolist(), strict=True)
        return [texts[place] if kind == _STRING else "" for kind, place in pairs]

    def integers(self, codes: NDArray[np.int32]) -> tuple[IndexArray, NDArray[np.bool_]]:
        """Return the integer of each of these entries, arbitrary for all others, and which are integers."""
        kinds, payloads = self._read(codes)
        return payloads, kinds == _INTEGER

    def _read(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.uint8], IndexArray]:
        """Return the kind and the payload of each of these entries."""
        # The arrays cannot grow while NumPy holds their memory: these views end here.
        kinds = np.frombuffer(self._kinds, np.uint8)[codes]
        return kinds, np.frombuffer(self._payload, np.int64)[codes]

    def kinds(self) -> NDArray[np.uint8]:
        """Return the kind of each entry: ABSENT, INTEGER, REAL, STRING, or EXPRESSION for all others."""
        return np.array(self._kinds, np.uint8)

    def payloads(self) -> IndexArray:
        """Return the integer, the bits of the real, or the place in ``texts`` or ``trees`` of each entry."""
        return np.array(self._payload, np.int64)

    def tokens(self, index: int) -> tuple[str, ...]:
        """Return one of ``trees`` as tokens; see ``expression_tokens``."""
        tokens = self._tokens.get(index)
        if tokens is None:
            tokens = self._tokens[index] = tuple(expression_tokens(self.trees[index]))
        return tokens

    def expr(self, code: int) -> Expr | None:
        """Return the expression of an entry, None for ``ABSENT``."""
        kind, payload = self._kinds[code], self._payload[code]
        if kind == Kind.EXPRESSION:
            return self.trees[payload]
        if kind == Kind.STRING:
            return Literal(self.texts[payload])
        if kind == Kind.INTEGER:
            return Literal(payload)
        if kind == Kind.REAL:
            return Literal(_REAL.unpack(_BITS.pack(payload))[0])
        return None

    @property
    def may_be_expressions(self) -> bool:
        """True if an entry may be something other than a plain number or string."""
        return bool(self.trees)

    def require(self, code: int) -> Expr:
        """Return the expression of an entry other than ``ABSENT``."""
        expr = self.expr(code)
        if expr is None:
            raise LookupError("the ad does not have the attribute")
        return expr

    def scan(self, code: int) -> ReferenceScan:
        """Return the references of an expression."""
        found = self._scans.get(code)
        if found is None:
            expr = self.expr(code)
            found = self._scans[code] = scan(Literal(UNDEFINED) if expr is None else expr)
        return found

    def column(self, pool: StringPool) -> Column:
        """Return the entries as a column, one row for each; literals with a sign or in parentheses are values."""
        return self._computed(pool).column

    def _computed(self, pool: StringPool) -> _DistinctSnapshot:
        """Return the values computed from the entries, anew if there are more."""
        if self._snapshot is None or self._snapshot.size != len(self):
            self._snapshot = _DistinctSnapshot(len(self), self._column(pool))
        return self._snapshot

    def canonical_codes(self, pool: StringPool) -> IndexArray:
        """Return for each entry the code of the first one with the same kind and value, or the same tree."""
        computed = self._computed(pool)
        if computed.canonical is None:
            column = computed.column
            kinds = np.broadcast_to(column.kinds, (len(self),))
            trees = np.flatnonzero((kinds == Kind.EXPRESSION) | (kinds == Kind.OTHER))
            simple = np.flatnonzero((kinds != Kind.EXPRESSION) & (kinds != Kind.OTHER))
            canonical = np.arange(len(self))
            ids, first = group_values((column.take(simple).narrowed(),), len(simple))
            canonical[simple] = simple[first[ids]]
            by_key: dict[str, int] = {}
            for code in trees.tolist():
                canonical[code] = by_key.setdefault(tree_key(self.trees[self._payload[code]]), code)
            computed.canonical = canonical
        return computed.canonical

    def _column(self, pool: StringPool) -> Column:
        kinds = np.array(self._kinds, np.uint8)
        payload = np.array(self._payload, np.int64)
        present = bits(map(Kind, np.flatnonzero(np.bincount(kinds, minlength=len(Kind))).tolist()))
        data: dict[Kind, NDArray[Any]] = {Kind.INTEGER: payload, Kind.REAL: payload.view(np.float64)}
        if self.texts:
            codes = pool.codes(self.texts)
            data[Kind.STRING] = codes[np.where(kinds == Kind.STRING, payload, 0)]
        column = make(len(kinds), pool, kinds, present, data)
        if not self.trees:
            return column
        values = list(map(literal_value, self.trees))
        kinds_of_trees = [Kind.EXPRESSION if value is None else kind_of(value) for value in values]
        literals = from_cells(pool, values, np.fromiter(kinds_of_trees, np.uint8, len(kinds_of_trees)))
        return scatter(column, [(np.flatnonzero(kinds == Kind.EXPRESSION), literals)])


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

    @property
    def remembers_lines(self) -> bool:
        """True if further lines with this name are remembered."""
        return self.lines < MAX_LINES_EACH

    def stop_remembering(self) -> None:
        """Remember no further lines with this name: most have a new value."""
        self.lines = MAX_LINES_EACH

    @property
    def prefix(self) -> str:
        """What a line of this attribute as HTCondor prints it begins with: all but the value."""
        return self.name + EQUALS
