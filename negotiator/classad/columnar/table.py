"""A table whose attributes can be evaluated, and the values of its columns as Python users expect them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

import numpy as np

from negotiator.classad.columnar.evaluation import evaluate_table
from negotiator.classad.columnar.footprints import MAX_SCALAR_STEPS
from negotiator.classad.context import Allowance, Environment, Payers
from negotiator.classad.syntax import AttributeMap, Literal, fold, reference
from negotiator.classad.tables import AttributeTable
from negotiator.classad.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Self

    from numpy.typing import NDArray

    from negotiator.classad.bindings import ClassAd, ExprTree
    from negotiator.classad.scalar import Ad
    from negotiator.classad.syntax import Expr
    from negotiator.classad.tables import AdDictionary, Column

#: Steps that reading one attribute of all ads, such as JobPrio, may take for each owner or machine. Its values in further
#: ads of the same owner are error.
MAX_STEPS_ALONE: Final = 300_000
#: Steps of the scalar evaluator for each ad of a table, on average, that ``Table.evaluate`` may take.
STEPS_PER_AD: Final = 10_000
_KEPT_ROWS: Final = 20_000
#: Who wrote an ad: the first of these that is a string.
_WRITERS: Final = ("Owner", "User", "Machine", "Name")
_NUMBERS: Final = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.REAL})
_NO_VALUE: Final = frozenset({Kind.UNDEFINED, Kind.ABSENT, Kind.ERROR})


class Table(AttributeTable):
    """The ads of a pool as rows, with their attributes as columns, which can be evaluated."""

    __slots__ = ()

    @classmethod
    def from_ads(cls, ads: Iterable[Ad | ClassAd], dictionary: AdDictionary | None = None) -> Self:
        """Return the table of these ads, one a row, in their order; later changes of a ``ClassAd`` do not reach it.

        For the ``dictionary`` see ``AttributeTable``.
        """
        made = (ad if isinstance(ad, AttributeMap) else ad.to_ad() for ad in ads)
        return super().from_ads(made, dictionary)

    def evaluate(
        self,
        expression: str | Expr | ExprTree,
        target: ClassAd | Ad | None = None,
        env: Environment | None = None,
    ) -> NDArray[Any]:
        """Return the value of an expression in each ad, (N,), as ``ExprTree.eval(ad, target)`` does, but for all at once.

        The array is of ``bool``, ``int64`` or ``float64`` if all values are of that kind, and of objects otherwise. Where
        ``eval`` would give up, and beyond 10,000 steps for each ad, the value is ``Value.Error``.

        :param expression: its text in the new syntax, or parsed.
        :param target: the ad that ``TARGET.`` refers to.
        :param env: the clock and the random numbers; those of now by default.
        :raises ClassAdException: the text is invalid.
        """
        from negotiator.classad.bindings import current_environment, expression_of

        other = target if target is None or isinstance(target, AttributeMap) else target.to_ad()
        steps = max(MAX_SCALAR_STEPS, STEPS_PER_AD * len(self))
        env = env or current_environment()
        return _python_values(evaluate_table(expression_of(expression), self, other, env=env, steps=steps))

    def alone(self, name: str) -> Column:
        """Return the values of an attribute, each evaluated in its ad alone; error where an owner has no steps left.

        A frozen table without many rows keeps them: the slots of a pool may be the same in many cycles.
        """
        kept = self._alone.get(folded := fold(name))
        if kept is not None:
            return kept
        left: defaultdict[str, Allowance] = defaultdict(lambda: Allowance(MAX_STEPS_ALONE))
        payers = Payers(rows=lambda ad: left[_writer(ad)])
        found = evaluate_table(reference(name), self, env=Environment(payers=payers))
        if self._is_frozen and len(self) <= _KEPT_ROWS:
            self._alone[folded] = found
        return found

    def strings(self, name: str) -> NDArray[np.object_]:
        """Return the values of an attribute, each evaluated in its ad alone: (N,), str, None for other types."""
        column = self.alone(name)
        found = np.full(len(self), None, np.object_)
        rows = np.flatnonzero(np.broadcast_to(column.where(Kind.STRING), (len(self),)))
        if len(rows):
            codes = np.broadcast_to(column.data[Kind.STRING], (len(self),))[rows]
            found[rows] = [self.pool.strings[code] for code in codes.tolist()]
        return found

    def numbers(self, name: str, default: float = float("nan")) -> NDArray[np.float64]:
        """Return the values of an attribute, each evaluated in its ad alone, as ``Column.numbers`` does."""
        return self.alone(name).numbers(default)


def _writer(ad: AttributeMap) -> str:
    """Return the name of who wrote an ad, empty if unknown; only constants count."""
    found = (ad.get(name) for name in _WRITERS)
    names = (each.value for each in found if isinstance(each, Literal) and isinstance(each.value, str))
    return fold(next(names, ""))


def _python_values(column: Column) -> NDArray[Any]:
    """Return the values of a column, (N,): of ``bool``, ``int64`` or ``float64`` if all are of that kind, else of objects.

    The objects are those that ``ExprTree.eval`` returns.
    """
    column = column.narrowed()
    if column.kind in _NUMBERS:
        return np.array(np.broadcast_to(column.data[column.kind], (len(column),)))
    values = np.empty(len(column), np.object_)
    for kind in (kind for kind in Kind if column.has(kind)):
        if column.kind is kind:
            _fill(values, column, kind)
        else:
            rows = np.flatnonzero(column.where(kind))
            part = np.empty(len(rows), np.object_)
            _fill(part, column.take(rows), kind)
            values[rows] = part
    return values


def _fill(values: NDArray[np.object_], column: Column, kind: Kind) -> None:
    """Set all values to those of a column, whose rows are of one kind."""
    from negotiator.classad.bindings import Value, to_python

    if kind in _NO_VALUE:
        values[:] = Value.Error if kind is Kind.ERROR else Value.Undefined
        return
    data = np.broadcast_to(column.data[kind], (len(column),))
    if kind is Kind.STRING:
        values[:] = _strings(column, data)
    elif kind in _NUMBERS:
        values[:] = data.astype(np.object_)
    else:
        for row, value in enumerate(data):
            values[row] = to_python(value)


def _strings(column: Column, codes: NDArray[Any]) -> NDArray[np.object_] | list[str]:
    """Return the strings of some codes: by way of an array of all strings, unless the pool has more of them than rows."""
    strings = column.pool.strings
    if len(strings) > len(codes):
        return [strings[code] for code in codes.tolist()]
    all_strings = np.empty(len(strings), np.object_)
    all_strings[:] = strings
    chosen: NDArray[np.object_] = all_strings[codes]
    return chosen
