"""Columns: the values of one attribute or expression for every ad of a table, as typed arrays.

A column has one array of kinds and, for each kind that may occur in it, one array of values of that kind, which is
arbitrary in rows of another kind. Every array has shape ``(N,)``, or ``()`` if it is the same for all rows: a constant is
a column too, and NumPy broadcasts it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad.context import ClassAdValue
from negotiator.classad.values import ERROR, UNDEFINED, Exceptional, Kind, fold_bytes, from_bytes, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

BoolArray: TypeAlias = NDArray[np.bool_]
IndexArray: TypeAlias = NDArray[np.int64]

DTYPES: dict[Kind, Any] = {
    Kind.BOOLEAN: np.bool_,
    Kind.INTEGER: np.int64,
    Kind.REAL: np.float64,
    Kind.STRING: np.int32,
    Kind.OTHER: np.object_,
}
"""The kinds that have values, and their array types; strings are stored as codes of the column's pool."""

_PLAIN_KINDS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.STRING})
_KIND_OF_TYPE = {bool: Kind.BOOLEAN, int: Kind.INTEGER, float: Kind.REAL, str: Kind.STRING}


def kind_of(value: ClassAdValue) -> Kind:
    """Return the kind of cell that holds ``value``."""
    if isinstance(value, Exceptional):
        return Kind.ERROR if value is ERROR else Kind.UNDEFINED
    return _KIND_OF_TYPE.get(type(value), Kind.OTHER)


class StringPool:
    """Distinct strings by code, each with the code of its lower-case form (ASCII letters only, as strcasecmp folds).

    A pool is shared by a table, the tables taken from it and the columns made from them. It only grows.
    """

    __slots__ = ("_codes", "_mapped", "strings")

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._codes = _numbering()
        self._mapped: dict[str, NDArray[np.int32]] = {}

    def __reduce__(self) -> tuple[Callable[[Sequence[str]], StringPool], tuple[list[str]]]:
        return _pool_of, (self.strings,)

    def code(self, text: str) -> int:
        """Return the code of ``text``; add it if the pool does not have it."""
        code = self._codes[text]
        if code == len(self.strings):
            self.strings.append(text)
        return code

    def codes(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the codes of several strings; add those that the pool does not have."""
        known = self._codes
        codes = np.fromiter(map(known.__getitem__, texts), np.int32, len(texts))
        new = len(known) - len(self.strings)
        if new:  # the last ones, since a dictionary keeps the order in which keys were added
            self.strings += reversed(list(islice(reversed(known), new)))
        return codes

    def mapped(
        self, name: str, function: Callable[[str], str], codes: NDArray[np.integer[Any]]
    ) -> NDArray[np.int32]:
        """Return the codes of the results of a function of strings, called once for each distinct string.

        Results are cached under ``name``: they must depend on the string alone.
        """
        known = self._mapped.get(name)
        if known is None or len(known) < len(self.strings):
            known = self._mapped[name] = _lengthened(known, len(self.strings))
        found: NDArray[np.int32] = known[codes]
        unknown = found < 0
        if unknown.any():
            there = np.zeros(len(self.strings), np.bool_)
            there[codes[unknown]] = True
            missing = np.flatnonzero(there)
            strings = self.strings
            known[missing] = self.codes([function(strings[code]) for code in missing.tolist()])
            found = known[codes]
        return found

    def folded(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the codes of the lower-case forms: equal exactly if ``==`` finds the strings equal."""
        return self.mapped("", _lower, codes)


def _pool_of(strings: Sequence[str]) -> StringPool:
    """Return a pool with these strings, all different, in this order."""
    pool = StringPool()
    pool.codes(strings)
    return pool


def _numbering() -> defaultdict[str, int]:
    """Return a dictionary that numbers the strings that are looked up, in the order in which they first are."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


def _lengthened(known: NDArray[np.int32] | None, size: int) -> NDArray[np.int32]:
    """Return results for at least ``size`` strings, -1 where unknown; some more, since each new string would copy them all."""
    found = np.full(size + size // 8 + 64, -1, np.int32)
    if known is not None:
        found[: len(known)] = known
    return found


def _lower(text: str) -> str:
    return text.lower() if text.isascii() else from_bytes(fold_bytes(to_bytes(text)))


def bits(kinds: Iterable[Kind]) -> int:
    """Return a set of kinds as a number: bit ``k`` for kind ``k``."""
    return sum(1 << kind for kind in kinds)


NUMERIC = bits((Kind.BOOLEAN, Kind.INTEGER, Kind.REAL))


@attrs.frozen(eq=False)
class Column:
    """The cells of one attribute, or the values of one expression, for the ``size`` ads of a table.

    ``kinds`` has shape ``(size,)``, or ``()`` if all rows are of one kind. ``present`` is the set of kinds that may occur
    (bit ``k`` for kind ``k``). ``data`` has an array of values, ``(size,)`` or ``()``, for each of them that has values.
    All arrays are read-only. Make columns with the functions of this module. ``masks`` are the rows of each kind that were asked
    for: columns with the same array of kinds share them.
    """

    size: int
    kinds: NDArray[np.uint8]
    present: int
    data: Mapping[Kind, NDArray[Any]] = attrs.field(repr=False)
    pool: StringPool = attrs.field(repr=False)
    masks: dict[Kind, BoolArray] = attrs.field(factory=dict, repr=False)

    def __len__(self) -> int:
        return self.size

    @property
    def kind(self) -> Kind | None:
        """The kind of all rows, None if they may differ."""
        return Kind(int(self.kinds)) if self.kinds.ndim == 0 else None

    @property
    def is_constant(self) -> bool:
        """True if all rows have the same value."""
        return self.kinds.ndim == 0 and all(values.ndim == 0 for values in self.data.values())

    def has(self, kind: Kind) -> bool:
        """True if a row may be of this kind."""
        return bool(self.present >> kind & 1)

    def where(self, kind: Kind) -> BoolArray:
        """Return which rows are of this kind: ``(size,)``, or ``()`` if all or none of them are."""
        if self.kinds.ndim == 0:
            return np.asarray(self.kinds == kind)
        if not self.has(kind):
            return np.asarray(np.False_)
        mask = self.masks.get(kind)
        if mask is None:
            mask = self.masks[kind] = np.asarray(self.kinds == kind)
            mask.setflags(write=False)
        return mask

    def value(self, row: int) -> ClassAdValue:
        """Return the value of a row; undefined for an absent attribute.

        :raises IndexError: the row does not exist.
        :raises ValueError: the cell is an expression that was not evaluated.
        """
        if not -self.size <= row < self.size:
            raise IndexError(row)
        kind = Kind(int(self.kinds if self.kinds.ndim == 0 else self.kinds[row]))
        if kind in (Kind.UNDEFINED, Kind.ABSENT):
            return UNDEFINED
        if kind is Kind.ERROR:
            return ERROR
        if kind is Kind.EXPRESSION:
            raise ValueError("the cell is an expression: evaluate the column")
        values = self.data[kind]
        value = values.item() if values.ndim == 0 else values[row]
        if kind is Kind.STRING:
            return self.pool.strings[int(value)]
        plain: ClassAdValue = value.item() if isinstance(value, np.generic) else value
        return plain

    def values(self, rows: IndexArray) -> list[ClassAdValue]:
        """Return the values of some rows, as ``value`` does: in one step where all rows are of one plain kind.

        :param rows: (K,) indexes.
        """
        kind = Kind(int(self.kinds)) if self.kinds.ndim == 0 else None
        if kind not in _PLAIN_KINDS:
            return [self.value(row) for row in rows.tolist()]
        values = self.data[kind]
        found = [values.item()] * len(rows) if values.ndim == 0 else values[rows].tolist()
        if kind is Kind.STRING:
            strings = self.pool.strings
            return [strings[code] for code in found]
        return found

    def is_true(self) -> BoolArray:
        """Return which rows are true as a condition: shape ``(size,)`` (SEMANTICS section 5)."""
        return self._full(self.truth)

    def numbers(self, default: float = float("nan")) -> NDArray[np.float64]:
        """Return booleans, integers and reals as binary64, shape ``(size,)``, and ``default`` for all others."""
        values = self.as_float()
        if self.present & ~NUMERIC:
            values = np.where(self.numeric(), values, default)
        return self._full(values)

    def _full(self, array: NDArray[Any]) -> NDArray[Any]:
        full = np.broadcast_to(array, (self.size,))
        full.setflags(write=False)
        return full

    # For the kernels.

    @cached_property
    def derived(self) -> dict[Any, Any]:
        """What kernels computed from this column and keep with it, by keys of their own."""
        return {}

    @cached_property
    def truth(self) -> BoolArray:
        """Which rows are a number other than 0 or the boolean true; shape as the data."""
        result: BoolArray | None = None
        for kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL):
            if self.has(kind):
                true = self.data[kind] if kind is Kind.BOOLEAN else self.data[kind] != 0
                found = true if self.kind is kind else true & self.where(kind)
                result = found if result is None else result | found
        return np.asarray(np.False_ if result is None else result)

    @cached_property
    def folded(self) -> NDArray[np.int32]:
        """The codes of the strings in lower case; arbitrary in rows that are not strings."""
        return np.asarray(self.pool.folded(self.data[Kind.STRING]))

    def numeric(self) -> BoolArray:
        """Return which rows are booleans, integers or reals."""
        if not self.present & ~NUMERIC:
            return np.asarray(np.True_)
        return np.asarray(self.where(Kind.BOOLEAN) | self.where(Kind.INTEGER) | self.where(Kind.REAL))

    def as_int(self) -> NDArray[np.int64]:
        """Return booleans and integers as int64; arbitrary in other rows."""
        if not self.has(Kind.BOOLEAN):
            return self.data.get(Kind.INTEGER, np.zeros((), np.int64))
        bools = self.data[Kind.BOOLEAN].astype(np.int64)
        if not self.has(Kind.INTEGER):
            return np.asarray(bools)
        return np.where(self.where(Kind.BOOLEAN), bools, self.data[Kind.INTEGER])

    def as_float(self) -> NDArray[np.float64]:
        """Return booleans, integers and reals as binary64; arbitrary in other rows."""
        return self._floats

    @cached_property
    def _floats(self) -> NDArray[np.float64]:
        if not self.present & bits((Kind.BOOLEAN, Kind.INTEGER)):
            return self.data.get(Kind.REAL, np.zeros((), np.float64))
        values = np.asarray(self.as_int().astype(np.float64))
        if not self.has(Kind.REAL):
            return values
        return np.where(self.where(Kind.REAL), self.data[Kind.REAL], values)

    @cached_property
    def defined(self) -> Column:
        """This column with undefined in place of absent."""
        if not self.has(Kind.ABSENT):
            return self
        kinds = np.asarray(np.where(self.kinds == Kind.ABSENT, np.uint8(Kind.UNDEFINED), self.kinds))
        present = self.present & ~(1 << Kind.ABSENT) | 1 << Kind.UNDEFINED
        return make(self.size, self.pool, kinds, present, self.data)

    def without(self, kind: Kind) -> Column:
        """Return this column without a kind that, as the caller knows, no row has."""
        rest = self.present & ~(1 << kind)
        if not rest:  # there are no rows
            return single(self.size, self.pool, Kind.UNDEFINED)
        return make(self.size, self.pool, self.kinds, rest, self.data)

    def narrowed(self) -> Column:
        """Return this column with only the kinds that occur in it."""
        if self.kinds.ndim == 0:
            return self
        found = bits(kind for kind in Kind if self.has(kind) and bool((self.kinds == kind).any()))
        return make(self.size, self.pool, self.kinds, found or self.present, self.data)

    def take(self, rows: NDArray[Any]) -> Column:
        """Return the column of these rows (integers), in their order."""
        kinds = self.kinds if self.kinds.ndim == 0 else self.kinds[rows]
        data = {kind: values if values.ndim == 0 else values[rows] for kind, values in self.data.items()}
        return make(len(rows), self.pool, kinds, self.present, data)


def make(
    size: int,
    pool: StringPool,
    kinds: NDArray[np.uint8] | np.generic,
    present: int,
    data: Mapping[Kind, NDArray[Any]],
    masks: dict[Kind, BoolArray] | None = None,
) -> Column:
    """Return a column and make its arrays read-only; ``present`` must have all kinds that occur, and may have more.

    :param masks: those of another column with the same ``kinds`` and ``present``.
    """
    if present & (present - 1) == 0:
        kinds = np.asarray(present.bit_length() - 1, np.uint8)
    values_by_kind = {kind: np.asarray(values) for kind, values in data.items() if present >> kind & 1}
    kinds = np.asarray(kinds, np.uint8)
    for array in (kinds, *values_by_kind.values()):
        array.setflags(write=False)
    return Column(
        size, kinds, present, MappingProxyType(values_by_kind), pool, {} if masks is None else masks
    )


def single(
    size: int, pool: StringPool, kind: Kind, values: NDArray[Any] | np.generic | None = None
) -> Column:
    """Return a column with rows of one kind only."""
    data = {} if values is None else {kind: np.asarray(values)}
    return make(size, pool, np.asarray(kind, np.uint8), 1 << kind, data)


def constant(size: int, pool: StringPool, value: ClassAdValue) -> Column:
    """Return the column that has this value in every row."""
    kind = kind_of(value)
    return single(size, pool, kind, _stored(kind, [value], pool)[0] if kind in DTYPES else None)


def from_values(pool: StringPool, values: Sequence[ClassAdValue]) -> Column:
    """Return the column of these values, one a row."""
    return from_cells(pool, values, np.fromiter(map(kind_of, values), np.uint8, len(values)))


def from_cells(pool: StringPool, values: Sequence[Any], kinds: NDArray[np.uint8]) -> Column:
    """Return the column of these values and kinds; values of kinds without values are ignored."""
    size = len(values)
    occurring = [Kind(kind) for kind in np.flatnonzero(np.bincount(kinds, minlength=len(Kind))).tolist()]
    data: dict[Kind, NDArray[Any]] = {}
    for kind in occurring:
        if kind in DTYPES:
            rows = np.flatnonzero(kinds == kind)
            data[kind] = stored = np.zeros(size, DTYPES[kind])
            stored[rows] = _stored(kind, [values[row] for row in rows.tolist()], pool)
    return make(size, pool, kinds, bits(occurring) or 1 << Kind.UNDEFINED, data)


def _stored(kind: Kind, values: list[Any], pool: StringPool) -> NDArray[Any]:
    """Return values of one kind as they are stored."""
    if kind is Kind.STRING:
        return pool.codes(values)
    stored = np.empty(len(values), DTYPES[kind])
    stored[:] = values
    return stored


def choose(mask: BoolArray, yes: Column, no: Column) -> Column:
    """Return the rows of ``yes`` where the mask is set, those of ``no`` elsewhere; the mask may have shape ``()``."""
    if mask.ndim == 0:
        return yes if mask else no
    alike = yes.kind is not None and yes.kind is no.kind
    kinds = yes.kinds if alike else np.where(mask, yes.kinds, no.kinds)
    data: dict[Kind, NDArray[Any]] = {}
    for kind in (*yes.data, *(kind for kind in no.data if kind not in yes.data)):
        if kind not in yes.data or kind not in no.data:
            data[kind] = (yes if kind in yes.data else no).data[kind]
        else:
            data[kind] = np.where(mask, yes.data[kind], no.data[kind])
    return make(yes.size, yes.pool, kinds, yes.present | no.present, data)


def scatter(base: Column, parts: Sequence[tuple[IndexArray, Column]]) -> Column:
    """Return ``base`` with the rows of each part, ascending row numbers and their values, replaced."""
    if len(parts) == 1 and len(parts[0][0]) == base.size:
        return parts[0][1]  # all rows, in order
    kinds = np.array(np.broadcast_to(base.kinds, (base.size,)))
    data = {kind: np.array(np.broadcast_to(values, (base.size,))) for kind, values in base.data.items()}
    present = base.present
    for rows, column in parts:
        present |= column.present
        kinds[rows] = column.kinds
        for kind, values in column.data.items():
            if kind not in data:
                data[kind] = np.zeros(base.size, DTYPES[kind])
            data[kind][rows] = values
    return make(base.size, base.pool, kinds, present, data)
