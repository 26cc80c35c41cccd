"""Finds out which expressions of a bundle can be undefined: without one attribute of an ad that a test has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from negotiator.app.policy_counts import expression_counts
from negotiator.bundle import Bundle
from negotiator.bundle.expressions import BundleExpression, bundle_expressions
from negotiator.classad import Table, references
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.pool import Snapshot
from negotiator.records import Source


def undefined_expressions(
    bundle: Bundle, pools: Iterable[tuple[Snapshot, float]]
) -> Mapping[tuple[str, Source], str]:
    """Return the expressions that are undefined for the ads of tests without an attribute, by name and place, with this attribute.

    :param pools: the ads of each test, and its time.
    """
    expressions, _ = bundle_expressions(bundle, {}, 0.0)
    found: dict[tuple[str, Source], str] = {}
    for pool, now in pools:
        ads = tables_by_kind(pool)
        for each in expressions:
            key = each.rule, each.source or Source("pool.yaml")
            if key not in found and (name := _undefined_without(each, ads, now)):
                found[key] = name
    return found


def _undefined_without(each: BundleExpression, ads: Mapping[AdKind, Table], now: float) -> str:
    """Return an attribute without which an expression is undefined for some ads, as ``MY.Name``; empty if there is none."""
    read = references(each.tree)
    for scope, kinds, names in (
        ("MY", each.my, read.my | read.unscoped),
        ("TARGET", each.target, read.target),
    ):
        for name in sorted(names):
            changed = {**ads, **{kind: _without(ads[kind], name) for kind in kinds}}
            if any(count.undefined for count in expression_counts(each, changed, now)):
                return _as_written(each, scope, name)
    return ""


def _without(table: Table, name: str) -> Table:
    return table.with_attributes({name: (np.zeros(len(table), np.int64), [None])})


def _as_written(each: BundleExpression, scope: str, name: str) -> str:
    """Return an attribute as the expression spells it, with its scope."""
    hit = re.search(
        rf"(?<![\w.]){scope}\.({re.escape(name)})(?!\w)", each.text or "", re.IGNORECASE | re.ASCII
    )
    return f"{scope}.{hit[1] if hit else name}"
