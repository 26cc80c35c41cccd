"""Computes the possible values of a whole expression for given ads, by evaluating it over their columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from negotiator.classad.columnar import Table, evaluate_table
from negotiator.classad.context import Environment
from negotiator.classad.lint.facts import SHADOWS, of_column
from negotiator.classad.lint.value_types import BOOLEAN, PossibleValue, either_of
from negotiator.classad.syntax import Expr, ReferenceScan, Side, scan
from negotiator.classad.values import Kind

MAX_OTHERS: Final = 32
"""Maximum of different ads of one side with which an expression is evaluated; with more, the result is None."""

MAX_NAMES: Final = 500


def over_ads(expr: Expr, my: Table, env: Environment) -> PossibleValue | None:
    """Return what an expression is for all of these ads, each alone; None if each evaluation may differ."""
    if names_read(expr, my) is None:
        return None
    return of_column(evaluate_table(expr, my, env=env))


def over_pairs(expr: Expr, my: Table, target: Table, env: Environment) -> PossibleValue | None:
    """Return what an expression is for all pairs; None if there are too many different ads to evaluate them all.

    Of ads that are equal in all attributes that the expression can read, one is evaluated, on both sides.
    """
    names = names_read(expr, my, target)
    if names is None:
        return None
    rows, others = my.take(my.group(names)[1]), target.take(target.group(names)[1])
    side = Side.MY
    if len(others) > MAX_OTHERS:
        rows, others, side = others, rows, Side.TARGET
    if len(others) > MAX_OTHERS:
        return None
    found: PossibleValue | None = None
    for row in range(len(others)):
        value = of_column(evaluate_table(expr, rows, others.ad(row), side=side, env=env))
        found = value if found is None else either_of(found, value)
        if found.types & BOOLEAN == BOOLEAN:
            break  # both true and false: there is nothing to report
    return found


def is_of_one_side(expr: Expr, my: Table) -> bool:
    """True if an expression of these ads has the same value for any other ad."""
    for part in _followed(expr, set(SHADOWS), (my,)):
        if part.opaque or part.moves_scope or part.names[Side.TARGET]:
            return False
        if any(my.column(name).has(Kind.ABSENT) for name in part.names[None]):
            return False
    return True


def names_read(expr: Expr, *tables: Table) -> list[str] | None:
    """Return the names that an expression can read in ads of both sides, in lower case; None if it can read any."""
    names = set(SHADOWS)
    for part in _followed(expr, names, tables):
        if part.opaque or part.moves_scope or len(names) > MAX_NAMES:
            return None
    return sorted(names)


def _followed(expr: Expr, names: set[str], tables: tuple[Table, ...]) -> Iterator[ReferenceScan]:
    """Yield the references of an expression and of the attributes it reads in the ads; their names are added to ``names``."""
    pending = [scan(expr), *(part for name in names for table in tables for part in table.scans(name))]
    while pending:
        part = pending.pop()
        new = {name for named in part.names.values() for name in named} - names
        names |= new
        pending += (each for name in new for table in tables for each in table.scans(name))
        yield part
