"""Splits a condition at its top-level ``&&``, so that each conjunct can be evaluated, counted and cached by itself."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

from negotiator.classad.syntax.analysis import children, safe_conjuncts
from negotiator.classad.syntax.attribute_map import fold
from negotiator.classad.syntax.reference_scan import SCOPE_MOVING_FUNCTIONS, scope_side
from negotiator.classad.syntax.tree import Attr, Binary, Call, Expr, Side

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

MOVING_FUNCTIONS: Final = SCOPE_MOVING_FUNCTIONS | {"unresolved"}
"""Functions that move the evaluator to the ad in which they find their first argument, or to the outermost ad."""

MAX_CONJUNCTS: Final = 64
"""Conjuncts of one expression at most; the rest is one conjunct. Requirements are written by users, so it needs a limit."""


def split(condition: Expr) -> tuple[Expr, ...]:
    """Split at the top-level ``&&``; the tail of a very long expression stays one conjunct.

    Each conjunct can be evaluated by itself unless an earlier one moves the scope: see ``moved_attributes``.
    """
    parts = safe_conjuncts(condition)
    if len(parts) <= MAX_CONJUNCTS:
        return parts
    return (*parts[: MAX_CONJUNCTS - 1], _joined(parts[MAX_CONJUNCTS - 1 :]))


def rejoin(parts: Sequence[Expr], present: Container[str] = ()) -> tuple[Expr, ...]:
    """Join the conjuncts from the first one that moves the evaluator to another ad.

    ``present`` are the attributes, in lower case, that the conjunct's own ad has: see ``moved_attributes``.
    """
    for index, part in enumerate(parts):
        if not all(name in present for name in moved_attributes(part)):
            return (*parts[:index], _joined(parts[index:]))
    return tuple(parts)


def moved_attributes(expr: Expr) -> frozenset[str]:
    """Return the attributes to whose ad a call in an expression moves the evaluator; later names are looked up there.

    ``countMatches(MY.x, ...)`` moves to the own ad, where the evaluator is anyway, if that has an ``x``, else to the
    outermost one (SEMANTICS section 4). Any other ad is reported as "", which names no attribute.
    """
    found: set[str] = set()
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Call) and node.args and fold(node.name) in MOVING_FUNCTIONS:
            first = node.args[0]
            if isinstance(first, Attr):
                found.add(fold(first.name) if scope_side(first.scope) is Side.MY else "")
        pending.extend(children(node))
    return frozenset(found)


def _joined(parts: Sequence[Expr]) -> Expr:
    return functools.reduce(lambda left, right: Binary("&&", left, right), parts)
