"""Tables of ads with other values in some rows, by columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from negotiator.classad import (
    Ad,
    Environment,
    Expr,
    LiteralValue,
    Table,
    evaluate,
    evaluate_table,
    parse,
)
from negotiator.classad.syntax import Attr, children, fold, with_operands
from negotiator.hooks.records import Mask
from negotiator.ledger import Rows

Values: TypeAlias = Sequence[tuple[str, Expr | LiteralValue]]
"""Names of attributes and their values."""

_UNDEFINED = parse("undefined")


def selected(table: Table, where: Expr, env: Environment) -> Mask:
    """Return the rows in which an expression is true, (N,)."""
    return np.broadcast_to(evaluate_table(where, table, env=env).is_true(), (len(table),))


def with_values(table: Table, rows: Mask, values: Values) -> Table:
    """Return a table with these values in some rows.

    In an expression that names the attribute itself, that stands for the value before: ``Memory * 2`` doubles it.
    """
    for name, tree in Ad(list(values)).items():
        groups, first = table.group([name])
        before = [ad.get(name) for ad in table.take(first).ads]
        after = [_instead(tree, name, each) for each in before]
        places = np.where(rows, groups + len(before), groups)
        table = table.with_attributes({name: (places, [*before, *after])})
    return table


def with_copies(
    table: Table,
    row: int,
    count: int,
    own: Mapping[str, Sequence[Expr | LiteralValue | None]],
    values: Values,
) -> Table:
    """Return a table with copies of a row after the others.

    :param own: what each copy has for itself, (count,) by attribute; None removes the attribute.
    :param values: what all copies have, made of what they then have.
    """
    rows = np.arange(len(table), len(table) + count)
    found: Table = table.copies(np.append(np.arange(len(table)), np.full(count, row)))
    for name, each in own.items():
        found = _replaced(found, name, rows, each)
    is_new = np.zeros(len(found), np.bool_)
    is_new[rows] = True
    return with_values(found, is_new, values)


def _replaced(table: Table, name: str, rows: Rows, values: Sequence[Expr | LiteralValue | None]) -> Table:
    """Return a table with one value for each of these rows; None removes the attribute."""
    groups, first = table.group([name])
    before = [ad.get(name) for ad in table.take(first).ads]
    places = groups.copy()
    places[rows] = len(before) + np.arange(len(rows))
    return table.with_attributes({name: (places, [*before, *values])})


def _instead(tree: Expr, name: str, before: Expr | None) -> Expr | LiteralValue:
    """Return an expression with the value before instead of the attribute itself; its value if it then names no others."""
    found, is_constant = _substituted(tree, fold(name), _UNDEFINED if before is None else before)
    if found is tree or not is_constant:
        return found
    value = evaluate(found, Ad())
    return value if isinstance(value, bool | int | float | str) else found


def _substituted(tree: Expr, name: str, before: Expr) -> tuple[Expr, bool]:
    """Return an expression with another one in place of an attribute, and whether it names no attribute."""
    if isinstance(tree, Attr):
        is_own = fold(tree.name) == name and not tree.absolute and _is_my(tree.scope)
        return (before, _names_nothing(before)) if is_own else (tree, False)
    found = [_substituted(each, name, before) for each in children(tree)]
    return with_operands(tree, tuple(each for each, _ in found)), all(constant for _, constant in found)


def _is_my(scope: Expr | None) -> bool:
    return scope is None or (isinstance(scope, Attr) and scope.scope is None and fold(scope.name) == "my")


def _names_nothing(tree: Expr) -> bool:
    return not isinstance(tree, Attr) and all(map(_names_nothing, children(tree)))
