"""The external references of an expression, as HTCondor's ``GetExternalReferences`` finds them, for ``unresolved``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from negotiator.classad.context import AdValue, ValueNode, find_upwards, root
from negotiator.classad.syntax import AdRef, Attr, Call, ListExpr, RecordExpr, children, fold, unparse
from negotiator.classad.values import UNDEFINED, to_bytes

if TYPE_CHECKING:
    from negotiator.classad.context import EvaluationState, Node

_PREFIX = "target."


@attrs.define
class ExternalReferences:
    """A walk over an expression and the attributes it reaches, in the current scope of ``state``."""

    state: EvaluationState
    seen: dict[bytes, str] = attrs.field(factory=dict)

    def names(self, expr: Node) -> list[str]:
        """Return the sorted names without ``TARGET.``; empty if a limit ends the walk."""
        if not self._walk(expr, self.state.levels_left):
            return []
        names = [self.seen[key] for key in sorted(self.seen)]
        return [name[len(_PREFIX) :] if fold(name).startswith(_PREFIX) else name for name in names]

    def _add(self, name: str) -> bool:
        self.seen.setdefault(to_bytes(fold(name)), name)
        return True

    def _walk(self, expr: Node, depth: int) -> bool:
        self.state.charge(1)
        if depth <= 0:
            self.state.mark_level_dependent()
            return False
        if isinstance(expr, Attr):
            return self._reference(expr, depth)
        if isinstance(expr, ValueNode):
            if not isinstance(expr.value, AdValue):
                return False
            return all(self._walk(below, depth - 1) for _, below in expr.value.ad.items())
        if isinstance(expr, RecordExpr):
            return all(self._walk(below, depth - 1) for _, below in expr.items)
        if isinstance(expr, ListExpr | Call):
            below = expr.items if isinstance(expr, ListExpr) else expr.args
            return all(self._walk(item, depth - 1) for item in below)
        return all(self._walk(below, depth - 1) for below in children(expr))

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
