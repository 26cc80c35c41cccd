"""An ad without evaluation: attribute names and their expressions.

A pool has a hundred thousand ads of well over a hundred attributes, most with the same names in the same order. An ad
is therefore a tuple of expressions and a *shape*, the index of its names, which ads share. Equal expressions are
shared through the parser's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, overload

import attrs

from negotiator.classad.syntax.tree import Expr, Literal, LiteralValue, fold
from negotiator.classad.values import AbsTime, Exceptional, RelTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any, Self

_NODES: Final = frozenset(Expr.__args__)
_LITERALS: Final = (bool, int, float, str, Exceptional, AbsTime, RelTime)


class UnreadableNameError(Exception):
    """An attribute was looked up that the reader of an ad must not read: another answer than that it is missing."""

    name: str

    def respelled(self, name: str) -> Self:
        """Return the same error with the name as the reader spells it."""
        raise NotImplementedError


@attrs.frozen(eq=False)
class ReadLimit:
    """The names, in lower case, that a reader may look up; ``refuse`` returns the error for any other one."""

    names: frozenset[str]
    refuse: Callable[[str], UnreadableNameError]


class _LimitedIndex(dict[str, int]):
    """The positions of names of which a reader may look up some only, whether the ad has them or not.

    ``whole`` is the shape of the ad that was limited, if this is all that was done to it.
    """

    __slots__ = ("limit", "whole")

    def __init__(self, index: Mapping[str, int], limit: ReadLimit, whole: NameIndex | None = None) -> None:
        super().__init__(index)
        self.limit = limit
        self.whole = whole

    def __reduce__(self) -> tuple[type, tuple[dict[str, int], ReadLimit]]:
        return type(self), (dict(self), self.limit)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or self._is_readable(name)

    def get(self, name: str, default: Any = None) -> Any:
        position = super().get(name)
        if position is None:
            self._is_readable(name)
            return default
        return position

    def __missing__(self, name: str) -> int:
        self._is_readable(name)
        raise KeyError(name)

    def _is_readable(self, name: object) -> bool:
        """Return False for a name that may be read and that the ad does not have.

        :raises UnreadableNameError: it may not be read.
        """
        if isinstance(name, str) and name not in self.limit.names:
            raise self.limit.refuse(name)
        return False


@attrs.frozen(eq=False)
class NameIndex:
    """The names of an ad (its shape): ``index`` has the position of each name in lower case.

    If a name was given more than once, ``pick`` has the positions in ``given`` that count and ``repeated`` those names
    in lower case; otherwise ``pick`` is None. With a ``limit`` a look-up of other names raises an exception.
    """

    given: tuple[str, ...]
    names: tuple[str, ...]
    index: dict[str, int]
    pick: tuple[int, ...] | None
    repeated: frozenset[str] = frozenset()
    limit: ReadLimit | None = None

    def limited(self, limit: ReadLimit | None, whole: NameIndex | None = None) -> NameIndex:
        """Return the same names for a reader, ``whole`` as in its index; unchanged without a limit."""
        if limit is None:
            return self
        return attrs.evolve(self, index=_LimitedIndex(self.index, limit, whole), limit=limit)


@lru_cache(maxsize=4096)
def index_names(names: tuple[str, ...]) -> NameIndex:
    """Return the shape of an ad with these names. Of repeated names the last counts, in the place of the first."""
    index: dict[str, int] = {}
    distinct: list[str] = []
    pick: list[int] = []
    repeated: set[str] = set()
    for given, name in enumerate(names):
        position = index.setdefault(fold(name), len(distinct))
        if position == len(distinct):
            distinct.append(name)
            pick.append(given)
        else:
            pick[position] = given
            repeated.add(fold(name))
    if not repeated:
        return NameIndex(names, names, index, None)
    return NameIndex(names, tuple(distinct), index, tuple(pick), frozenset(repeated))


@lru_cache(maxsize=256)
def _projected(shape: NameIndex, names: frozenset[str]) -> tuple[NameIndex, tuple[int, ...]]:
    """Return the shape of an ad with only these names, and their positions in ``shape``."""
    positions = sorted({shape.index[name] for name in map(fold, names) if name in shape.index})
    projected = index_names(tuple(shape.names[each] for each in positions))
    return projected.limited(shape.limit), tuple(positions)


@lru_cache(maxsize=1024)
def _limited(shape: NameIndex, limit: ReadLimit) -> tuple[NameIndex, tuple[int, ...]]:
    """Return the shape of an ad as a reader may see it, and the positions of its names in ``shape``."""
    projected, positions = _projected(shape, limit.names.intersection(shape.index))
    return projected.limited(limit, shape), positions


@lru_cache(maxsize=1024)
def _replaced(
    shape: NameIndex, names: tuple[str, ...], added: tuple[str, ...]
) -> tuple[NameIndex, tuple[int, ...]]:
    """Return the shape of an ad with ``added`` instead of ``names``, and the positions in ``shape`` of what stays."""
    gone = frozenset(map(fold, names))
    positions = tuple([place for name, place in shape.index.items() if name not in gone])
    replaced = index_names((*(shape.names[place] for place in positions), *added))
    return replaced.limited(shape.limit), positions


def expression(value: Expr | LiteralValue) -> Expr:
    """Return an expression as it is, a constant as an expression.

    :raises ValueError: the integer has more than 64 bits.
    :raises TypeError: it is neither.
    """
    if type(value) in _NODES:
        return value  # type: ignore[return-value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("the integer does not fit 64 bits")
    if isinstance(value, _LITERALS):
        return Literal(value)
    raise TypeError(f"an attribute must be an expression or a constant, not {type(value).__name__}")


class _SomeExpressions(Sequence["Expr"]):
    """Some of the expressions of an ad, read on demand, and further ones: those of an ad in a table are made then."""

    __slots__ = ("_added", "_positions", "all")

    def __init__(
        self, expressions: Sequence[Expr], positions: tuple[int, ...], added: Sequence[Expr] = ()
    ) -> None:
        self.all = expressions
        self._positions = positions
        self._added = added

    def __len__(self) -> int:
        return len(self._positions) + len(self._added)

    @overload
    def __getitem__(self, place: int) -> Expr: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Expr]: ...
    def __getitem__(self, place: int | slice) -> Expr | Sequence[Expr]:
        if isinstance(place, slice):
            return tuple([self[each] for each in range(*place.indices(len(self)))])
        own = (place if place >= 0 else place + len(self)) - len(self._positions)
        return self._added[own] if own >= 0 else self.all[self._positions[own]]

    def __reduce__(self) -> tuple[type, tuple[tuple[Expr, ...]]]:
        """Pickle the expressions alone, not the table that they come from."""
        return tuple, (tuple(self),)


class AttributeMap:
    """An immutable, ordered mapping of attribute names to expressions. ASCII letters in names have no case.

    Of several attributes of one name the last counts, in the place and the spelling of the first, as in HTCondor.

    :raises TypeError: an attribute is neither an expression nor a constant.
    :raises ValueError: an integer does not fit 64 bits.
    """

    __slots__ = ("expressions", "shape")

    expressions: Sequence[Expr]
    """The expressions, in the order of the names."""
    shape: NameIndex

    def __init__(self, items: Iterable[tuple[str, Expr | LiteralValue]] = ()) -> None:
        given = tuple(items)
        shape = index_names(tuple([name for name, _ in given]))
        exprs: list[Expr] = [expression(value) for _, value in given]
        self.shape = shape
        self.expressions = (
            tuple(exprs) if shape.pick is None else tuple([exprs[position] for position in shape.pick])
        )

    @classmethod
    def of(cls, shape: NameIndex, expressions: Sequence[Expr]) -> Self:
        """Return the ad of a shape and its expressions, one for each name of the shape."""
        ad = cls.__new__(cls)
        ad.shape = shape
        ad.expressions = expressions
        return ad

    def replaced(self, values: Mapping[str, Expr | LiteralValue | None]) -> Self:
        """Return an ad with other values of some attributes, by name, after the others; None removes one.

        The other expressions are read when they are asked for.

        :raises TypeError, ValueError: as for the class.
        """
        added = {name: expression(value) for name, value in values.items() if value is not None}
        shape, positions = _replaced(self.shape, tuple(values), tuple(added))
        expressions = _SomeExpressions(self.expressions, positions, tuple(added.values()))
        if shape.pick is not None:  # one name in two spellings
            return self.of(shape, tuple([expressions[place] for place in shape.pick]))
        return self.of(shape, expressions)

    def get(self, name: str) -> Expr | None:
        """Return the expression of an attribute, None if it is missing."""
        try:
            position = self.shape.index.get(fold(name))
        except UnreadableNameError as error:
            raise error.respelled(name) from None
        return None if position is None else self.expressions[position]

    def folded(self, name: str) -> Expr | None:
        """Return the expression of an attribute like ``get``, given its name in lower case."""
        position = self.shape.index.get(name)
        return None if position is None else self.expressions[position]

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and fold(name) in self.shape.index
        except UnreadableNameError as error:
            raise error.respelled(str(name)) from None

    def __len__(self) -> int:
        return len(self.expressions)

    def __iter__(self) -> Iterator[str]:
        return iter(self.shape.names)

    def names(self) -> tuple[str, ...]:
        """Return the names as they are spelled, in order."""
        return self.shape.names

    def items(self) -> Iterator[tuple[str, Expr]]:
        """Return pairs of name and expression, in order."""
        return zip(self.shape.names, self.expressions, strict=True)

    def project(self, names: Iterable[str]) -> Self:
        """Return an ad with only the named attributes, in this ad's order."""
        shape, positions = _projected(self.shape, frozenset(names))
        return self.of(shape, _SomeExpressions(self.expressions, positions))

    def with_items(self, items: Iterable[tuple[str, Expr | LiteralValue]]) -> Self:
        """Return an ad with these attributes added or replaced."""
        changed = type(self)([*self.items(), *items])
        changed.shape = changed.shape.limited(self.shape.limit)
        return changed

    def limited(self, limit: ReadLimit) -> Self:
        """Return this ad for a reader: it shows the names of the limit only, and looking up another one is an error."""
        shape, positions = _limited(self.shape, limit)
        return self.of(shape, _SomeExpressions(self.expressions, positions))

    def unlimited(self) -> Self:
        """Return the ad that was limited, for those who account for what its reader does; this one if it was not."""
        index, expressions = self.shape.index, self.expressions
        whole = index.whole if isinstance(index, _LimitedIndex) else None
        if whole is None or not isinstance(expressions, _SomeExpressions):
            return self
        return self.of(whole, expressions.all)

    def __repr__(self) -> str:
        limit = self.shape.limit
        name = self.get("Name") if limit is None or "name" in limit.names else None
        label = f"{name.value[:80]}, " if isinstance(name, Literal) and isinstance(name.value, str) else ""
        return f"<{type(self).__name__} {label}{len(self)} attributes>"
