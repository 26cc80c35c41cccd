"""Count the ads or pairs of a pool for which each policy of a bundle is true, false or undefined.

Expressions are evaluated by columns. Of ads that are equal in all attributes that an expression can read, one is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import attrs
import numpy as np

from negotiator.activity import activity, advance
from negotiator.bundle import Bundle
from negotiator.bundle.expressions import BundleExpression, bundle_expressions
from negotiator.classad import Column, Environment, Expr, Kind, Side, Table, bind, evaluate_table
from negotiator.classad.lint import names_read
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.pool import Snapshot
from negotiator.records import Source

MAX_EVALUATED: Final = 64
"""Maximum of different ads of one side that an expression is evaluated for; with more, the pairs are a sample."""

WORDS: Final = {
    AdKind.SCHEDD: "schedd",
    AdKind.SUBMITTER: "submitter",
    AdKind.STARTD: "slot",
    AdKind.JOB: "job",
}


@attrs.frozen
class PolicyCount:
    """The values of one policy in a pool.

    ``subject`` is "slot", "job", ... or "pair of slot and job". ``invalid`` counts errors and values that are no condition.
    ``counted`` is the sum of the values; it is less than ``total`` if only a sample of the pairs was evaluated.
    ``discarded`` is None for a policy of matches. ``source`` is its place.
    """

    rule: str
    subject: str
    total: int
    true: int
    false: int
    undefined: int
    invalid: int
    discarded: int | None = None
    source: Source | None = None

    @property
    def counted(self) -> int:
        """The number of ads or pairs that were evaluated."""
        return self.true + self.false + self.undefined + self.invalid

    def __str__(self) -> str:
        """``RULE: 20 slots: true 3, false 17, undefined 0; discards 3``."""
        plural = "" if self.total == 1 else "s"
        subject = (
            self.subject.replace("pair", f"pair{plural}") if " " in self.subject else self.subject + plural
        )
        sample = f" (a sample of {self.counted:,})" if self.counted < self.total else ""
        values = f"true {self.true:,}, false {self.false:,}, undefined {self.undefined:,}"
        invalid = f", error {self.invalid:,}" if self.invalid else ""
        effect = "" if self.discarded is None else f"; discards {self.discarded:,}"
        return f"{self.rule}: {self.total:,} {subject}{sample}: {values}{invalid}{effect}"


def policy_counts(bundle: Bundle, pool: Snapshot, now: float) -> tuple[PolicyCount, ...]:
    """Return the counts of all gates and match expressions of a bundle, in the order of the bundle.

    :param now: the time that expressions see, in seconds since the epoch.
    """
    ads = tables_by_kind(pool)
    expressions, _ = bundle_expressions(bundle, ads, now)
    found: list[PolicyCount] = []
    with activity("trying the policies on the ads", len(expressions), "expression"):
        for each in expressions:
            found += expression_counts(each, ads, now)
            advance(1)
    return tuple(found)


def expression_counts(
    each: BundleExpression, ads: Mapping[AdKind, Table], now: float
) -> Iterator[PolicyCount]:
    """Yield the counts of a gate for each kind of its ads, or that of a match expression for pairs.

    :param ads: all ads of the pool.
    :param now: the time that the expression sees, in seconds since the epoch.
    """
    tree, env = bind(each.tree), Environment(now=now)
    for kind in each.discarded:
        column = evaluate_table(tree, ads[kind], env=env)
        values = _values(column, np.ones(len(ads[kind]), np.int64))
        yield PolicyCount(each.rule, WORDS[kind], len(ads[kind]), *values, each.discarded[kind], each.source)
    if each.is_constraint:
        my, target = ads[each.my[0]], ads[each.target[0]]
        pairs = _pairs(tree, my, target, env)
        yield PolicyCount(
            each.rule, "pair of slot and job", len(my) * len(target), *pairs, source=each.source
        )


def _pairs(tree: Expr, my: Table, target: Table, env: Environment) -> tuple[int, int, int, int]:
    """Return the numbers of pairs by value; of the side with fewer different ads, one after the other is evaluated."""
    rows, weights = _distinct(tree, my, target)
    others, other_weights = _distinct(tree, target, my)
    side = Side.MY
    if len(others) > len(rows):
        rows, weights, others, other_weights, side = others, other_weights, rows, weights, Side.TARGET
    chosen = np.unique(np.linspace(0, max(len(others) - 1, 0), MAX_EVALUATED).astype(np.int64))
    found = np.zeros(4, np.int64)
    for row in chosen if len(others) else ():
        column = evaluate_table(tree, rows, others.ad(int(row)), side=side, env=env)
        found += np.asarray(_values(column, weights)) * other_weights[row]
    true, false, undefined, invalid = found.tolist()
    return true, false, undefined, invalid


def _distinct(
    tree: Expr, table: Table, other: Table
) -> tuple[Table, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Return the ads that differ for an expression, and how many each of them stands for."""
    names = names_read(tree, table, other)
    if names is None:
        return table, np.ones(len(table), np.int64)
    groups, first = table.group(names)
    return table.take(first), np.bincount(groups, minlength=len(first)).astype(np.int64)


def _values(column: Column, weights: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[int, int, int, int]:
    """Return the weights of the rows that are true, false, undefined, and anything else."""
    size = weights.shape
    true = column.is_true()
    condition = np.zeros(size, np.bool_)
    for kind in (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL):
        condition = condition | np.broadcast_to(column.where(kind), size)
    undefined = np.broadcast_to(column.where(Kind.UNDEFINED), size)
    parts = (true, condition & ~true, undefined, ~(condition | undefined))
    first, second, third, fourth = (int(weights[part].sum()) for part in parts)
    return first, second, third, fourth
