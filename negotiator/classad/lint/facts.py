"""Facts about the ads of both sides, from the columns of their tables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

import attrs
import numpy as np

from negotiator.classad.columnar import Table
from negotiator.classad.context import RESERVED
from negotiator.classad.lint.value_types import (
    ANYTHING,
    COMPOUND,
    NOTHING,
    TIME,
    PossibleValue,
    ValueType,
    either_of,
    exactly,
)
from negotiator.classad.syntax import AdRef, Attr, Side, fold, scope_side
from negotiator.classad.tables import Column
from negotiator.classad.values import Kind

SHADOWS: Final = frozenset({"my", "target", "self", "other"})
"""Attributes that would replace the two ads in an expression that is not bound."""

_SPELLED: Final = 2000
_TYPES: Final = (
    (Kind.UNDEFINED, ValueType.UNDEFINED),
    (Kind.ERROR, ValueType.ERROR),
    (Kind.INTEGER, ValueType.INTEGER),
    (Kind.REAL, ValueType.REAL),
    (Kind.STRING, ValueType.STRING),
    (Kind.OTHER, COMPOUND | TIME),
)
_UNDEFINED: Final = PossibleValue(ValueType.UNDEFINED)


def of_column(column: Column, absent: ValueType = ValueType.UNDEFINED) -> PossibleValue:
    """Return the types in a column, ``absent`` for rows without the attribute; anything if a row is an expression."""
    if column.has(Kind.EXPRESSION):
        return ANYTHING
    if column.is_constant and column.kind in {Kind.INTEGER, Kind.REAL, Kind.STRING} and len(column):
        return exactly(column.value(0))
    types = absent if column.has(Kind.ABSENT) else NOTHING
    for kind, type_ in _TYPES:
        if column.has(kind):
            types |= type_
    if column.has(Kind.BOOLEAN):
        true, boolean = column.data[Kind.BOOLEAN], column.where(Kind.BOOLEAN)
        types |= ValueType.TRUE if bool((true & boolean).any()) else NOTHING
        types |= ValueType.FALSE if bool((~true & boolean).any()) else NOTHING
    return PossibleValue(types)


@attrs.frozen(eq=False)
class KnownAds:
    """The ads of one side; ``word`` is the noun for one of them in messages, such as ``slot``.

    ``computed`` are attributes, in lower case, that they get later, with values that are not known.
    """

    table: Table
    word: str
    computed: frozenset[str] = frozenset()

    @cached_property
    def names(self) -> frozenset[str]:
        """The attributes that any of the ads has, in lower case."""
        return self.table.names() | self.computed

    @cached_property
    def spelled(self) -> frozenset[str]:
        """The attributes as spelled in one of the first ads, or in lower case."""
        rows = range(min(len(self.table), _SPELLED))
        found = {fold(name): name for row in rows for name in self.table.ad(row).names()}
        return frozenset(found.get(name, name) for name in self.names)

    def reference(self, name: str, otherwise: PossibleValue = _UNDEFINED) -> PossibleValue:
        """Return what an attribute can be in these ads, with ``otherwise`` for ads without it."""
        if name not in self.names:
            return otherwise
        if name in self.computed:
            return ANYTHING
        column = self.table.column(name)
        found = of_column(column, absent=NOTHING)
        return either_of(found, otherwise) if column.has(Kind.ABSENT) else found

    def strings(self, name: str) -> frozenset[str]:
        """Return the strings that ads have as this attribute."""
        if name not in self.table.names():
            return frozenset()
        column = self.table.column(name)
        if not column.has(Kind.STRING):
            return frozenset()
        rows = np.broadcast_to(column.where(Kind.STRING), (len(column),))
        codes = np.unique(np.broadcast_to(column.data[Kind.STRING], (len(column),))[rows])
        return frozenset(self.table.pool.strings[code] for code in codes.tolist())


@attrs.frozen(eq=False)
class LintPool:
    """The ads of both sides, None for an unknown side; ``alone`` if expressions are evaluated without another ad."""

    my: KnownAds | None
    target: KnownAds | None
    alone: bool = False

    @cached_property
    def _shadowed(self) -> bool:
        """True if an ad may have an attribute called MY or TARGET, so that these may mean anything."""
        return self.my is None or not SHADOWS.isdisjoint(self.my.names)

    def sides(self) -> Iterable[KnownAds]:
        """Return the sides that are known."""
        return [ads for ads in (self.my, self.target) if ads is not None]

    def searched(self, expr: Attr) -> tuple[KnownAds | None, ...]:
        """Return the ads in which a reference is looked up, in order; None for ads that are not known."""
        side = scope_side(expr.scope)
        if side is Side.MY or (side is None and self.alone):
            return (self.my,)
        if side is Side.TARGET:
            return () if self.alone else (self.target,)
        return (self.my, self.target)

    def is_computed(self, expr: Attr) -> bool:
        """True if a reference may mean an attribute that ads get later."""
        name = fold(expr.name)
        return any(ads is not None and name in ads.computed for ads in self.searched(expr))

    def is_plain(self, expr: Attr) -> bool:
        """True if a reference can mean nothing but an attribute of one of the two ads."""
        meant = expr.scope is None or isinstance(expr.scope, AdRef) or not self._shadowed
        return meant and not expr.absolute and fold(expr.name) not in RESERVED

    def reference(self, expr: Attr) -> PossibleValue:
        """Return what an attribute can be in these ads."""
        if not self.is_plain(expr):
            return ANYTHING
        name = fold(expr.name)
        found: PossibleValue = _UNDEFINED
        for ads in reversed(self.searched(expr)):
            found = ANYTHING if ads is None else ads.reference(name, found)
        return found

    def concerned(self, references: Iterable[Attr]) -> str:
        """Return the ads for which a finding holds that depends on these references: ``for every slot of this pool``."""
        words = {ads.word: None for each in references for ads in self._ads_read(each)}
        return f"for every {' and '.join(words)} of this pool" if words else "in this pool"

    def _ads_read(self, expr: Attr) -> Iterable[KnownAds]:
        for ads in self.searched(expr):
            if ads is not None:
                yield ads
                name = fold(expr.name)
                if name in ads.table.names() and not ads.table.column(expr.name).has(Kind.ABSENT):
                    return
