"""The external references of an expression, as HTCondor's ``GetExternalReferences`` finds them, for ``unresolved``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from negotiator.classad.context import AdValue, ValueNode, find_upwards, root
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    AttributeMap,
    Call,
    ListExpr,
    RecordExpr,
    children,
    fold,
    unparse,
)
from negotiator.classad.values import UNDEFINED, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad.context import EvaluationState, Node
    from negotiator.classad.syntax import Expr

_PREFIX = "target."
#: A node of the walk takes as long as so many steps.
_STEPS_OF_NODE = 8


@attrs.define
class ExternalReferences:
    """A walk over an expression and the attributes it reaches, in the current scope of ``state``."""

    state: EvaluationState
    seen: dict[bytes, str] = attrs.field(factory=dict)

    def names(self, expr: Node) -> list[str]:
        """Return the sorted names without ``TARGET.``; empty if a limit ends the walk."""
        names = self.full_names(expr) or []
        return [name[len(_PREFIX) :] if fold(name).startswith(_PREFIX) else name for name in names]

    def full_names(self, expr: Node) -> list[str] | None:
        """Return the sorted names with their scopes; None if a limit ends the walk, or what selects a name is not an ad."""
        if not self._walk(expr, self.state.levels_left):
            return None
        return [self.seen[key] for key in sorted(self.seen)]

    def _add(self, name: str) -> bool:
        self.seen.setdefault(to_bytes(fold(name)), name)
        return True

    def _walk(self, expr: Node, depth: int) -> bool:
        pending = [expr]
        while pending:
            node = pending.pop()
            self.state.charge(_STEPS_OF_NODE)
            if depth <= 0:
                self.state.mark_level_dependent()
                return False
            if isinstance(node, Attr):
                if not self._reference(node, depth):
                    return False
            elif isinstance(node, ValueNode | RecordExpr | ListExpr | Call):
                below = self._inside(node)
                if below is None or not all(self._walk(each, depth - 1) for each in below):
                    return False
            else:  # an operator, which takes no level: a chain of thousands is ordinary input
                pending += reversed(children(node))
        return True

    def _inside(self, node: ValueNode | RecordExpr | ListExpr | Call) -> Iterable[Expr] | None:
        """Return what an ad, a list or a call consists of; None for a list that a predefined name stands for."""
        if isinstance(node, ValueNode):
            return node.value.ad.expressions if isinstance(node.value, AdValue) else None
        if isinstance(node, RecordExpr):
            return AttributeMap(node.items).expressions  # of a name that is defined twice the last one counts
        return node.args if isinstance(node, Call) else children(node)

    def _reference(self, expr: Attr, depth: int) -> bool:
        state = self.state
        current = state.current
        start = root(state) if expr.absolute else current
        if expr.scope is not None:
            value = state.evaluate_argument(expr.scope)
            if value is UNDEFINED:
                holder = expr.scope.side if isinstance(expr.scope, AdRef) else unparse(expr.scope)
                return self._add(f"{holder}.{expr.name}")
            if not isinstance(value, AdValue):
                return False
            start = value.scope
        try:
            found = find_upwards(state, start, fold(expr.name))
            return self._add(expr.name) if found is None else self._walk(found, depth - 1)
        finally:
            state.current = current
