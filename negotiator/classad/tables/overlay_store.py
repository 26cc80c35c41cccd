"""Stores over another one, which stays as it is: with further attributes, with its rows repeated, of new ads that have some of its attributes, or for a reader who may read some only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import attrs
import numpy as np

from negotiator.classad.scalar import Ad
from negotiator.classad.syntax.attribute_map import expression
from negotiator.classad.tables.attribute_codes import EncodedAttribute, encode
from negotiator.classad.tables.distinct_values import ABSENT, DistinctValues
from negotiator.classad.tables.store import RowStore
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from negotiator.classad.syntax import Expr, LiteralValue, ReadLimit
    from negotiator.classad.tables.column import IndexArray, StringPool
    from negotiator.classad.tables.dictionary import AdDictionary
    from negotiator.classad.tables.store import Store


@attrs.frozen(eq=False)
class _OverStore:
    """What stores over another one have of it."""

    base: Store

    @property
    def pool(self) -> StringPool:
        """The strings of the columns, by code."""
        return self.base.pool

    @property
    def version(self) -> int:
        """How often rows were replaced."""
        return self.base.version


@attrs.frozen(eq=False)
class AddedAttribute:
    """The values of one attribute: ``name`` as written, ``codes`` (N,) of ``entries``."""

    name: str
    codes: IndexArray
    entries: DistinctValues


@attrs.frozen(eq=False)
class OverlayStore(_OverStore):
    """The ads of a store with further attributes, by name in lower case; they replace the ads' own."""

    added: Mapping[str, AddedAttribute]

    def __len__(self) -> int:
        return len(self.base)

    def ad(self, row: int) -> Ad:
        """Return an ad."""
        added = {each.name: each.entries.expr(int(each.codes[row])) for each in self.added.values()}
        return self.base.ad(row).replaced(added)

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads."""
        found = self.added.get(name)
        if found is None:
            return self.base.encoded(name)
        return EncodedAttribute(found.codes.astype(np.int32), found.entries, self.pool)

    def row_store(self, rows: IndexArray | None, dictionary: AdDictionary) -> RowStore:
        """Return a store of copies of these ads, None for all.

        Ads that were not read with a dictionary are stored in ``dictionary``.
        """
        base = self.base
        if isinstance(base, OverlayStore):
            store = base.row_store(rows, dictionary)
        elif isinstance(base, RowStore):
            store = base.take(np.arange(len(base)) if rows is None else rows)
        else:
            store = RowStore(dictionary)
            places = range(len(base)) if rows is None else rows.tolist()
            store.append(dictionary.row(base.ad(place)) for place in places)
        for each in self.added.values():
            codes = each.codes if rows is None else each.codes[rows]
            used, of_row = np.unique(codes, return_inverse=True)
            values = [each.entries.expr(code) for code in used.tolist()]
            store.set_attribute(each.name, of_row.reshape(-1), values)
        return store

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        return self.base.names(rows) | self.added.keys()


@attrs.frozen(eq=False)
class RepeatedStore(_OverStore):
    """Ads of a store, each as often as its row is in ``rows`` (R,): the copies of one may get different attributes."""

    rows: IndexArray

    def __len__(self) -> int:
        return len(self.rows)

    def ad(self, row: int) -> Ad:
        """Return an ad."""
        return self.base.ad(int(self.rows[row]))

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads."""
        return self.base.encoded(name).take(self.rows)

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        return self.base.names(self.rows if rows is None else self.rows[rows])


@attrs.frozen(eq=False)
class DerivedStore(_OverStore):
    """New ads: ``attributes`` has by name in lower case the name as written, and the values, (N,), which may be those of a store."""

    size: int
    attributes: Mapping[str, tuple[str, EncodedAttribute]]

    def __len__(self) -> int:
        return self.size

    def ad(self, row: int) -> Ad:
        """Return an ad."""
        pairs = [(name, each.entries.expr(each.code(row))) for name, each in self.attributes.values()]
        return Ad([(name, value) for name, value in pairs if value is not None])

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads."""
        found = self.attributes.get(name)
        return encode([None], self.pool) if found is None else found[1]

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names of the attributes that any ad of these rows has."""
        if not (self.size if rows is None else len(rows)):
            return frozenset()
        taken = {name: each.take(rows) for name, (_, each) in self.attributes.items()}
        return frozenset(name for name, each in taken.items() if (each.codes != ABSENT).any())


@attrs.frozen(eq=False)
class LimitedStore(_OverStore):
    """The ads of a store for a reader: it shows the names of the limit only, and reading another attribute is an error."""

    limit: ReadLimit

    def __len__(self) -> int:
        return len(self.base)

    def ad(self, row: int) -> Ad:
        """Return an ad."""
        return self.base.ad(row).limited(self.limit)

    def encoded(self, name: str) -> EncodedAttribute:
        """Return an attribute of all ads.

        :raises UnreadableNameError: it may not be read.
        """
        if name not in self.limit.names:
            raise self.limit.refuse(name)
        return self.base.encoded(name)

    def names(self, rows: IndexArray | None) -> frozenset[str]:
        """Return the names that may be read of the attributes that any ad of these rows has."""
        return self.base.names(rows) & self.limit.names


class IntegerValues(NamedTuple):
    """The integers of an attribute, (N,), and which ads have it, (N,)."""

    values: IndexArray
    present: NDArray[np.bool_]

    def encoded(self, pool: StringPool) -> EncodedAttribute:
        """Return them as an attribute."""
        entries, codes = DistinctValues(), np.full(len(self.values), ABSENT, np.int32)
        distinct, numbers = np.unique(self.values[self.present], return_inverse=True)
        codes[self.present] = entries.extend(Kind.INTEGER, distinct)[numbers]
        return EncodedAttribute(codes, entries, pool)


def chosen(
    codes: IndexArray, values: Sequence[Expr | LiteralValue | None], pool: StringPool
) -> EncodedAttribute:
    """Return an attribute of ads by the place of the value of each, (N,); None for ads without it."""
    encoded = encode([None if value is None else expression(value) for value in values], pool)
    of_values = np.broadcast_to(encoded.codes, (len(values),))
    return EncodedAttribute(of_values[codes], encoded.entries, pool)


def added_attribute(
    base: Store,
    name: str,
    codes: IndexArray,
    values: Sequence[Expr | LiteralValue | None],
    rows: IndexArray | None,
) -> AddedAttribute:
    """Return an attribute of all ads of a store.

    :param codes: the place in ``values`` of each row's value, (R,).
    :param rows: the ads in the store, (R,); None for all.
    """
    encoded = chosen(codes, values, base.pool)
    found = np.zeros(len(base), np.int64)
    found[slice(None) if rows is None else rows] = encoded.codes
    return AddedAttribute(name, found, encoded.entries)
