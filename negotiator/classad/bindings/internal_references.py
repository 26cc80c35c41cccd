"""The internal references of an expression, as HTCondor's ``GetInternalReferences`` finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from negotiator.classad.context import AdScope, AdValue, ValueNode, find_upwards, root
from negotiator.classad.syntax import Attr, Call, ListExpr, RecordExpr, children, fold, stored_order
from negotiator.classad.values import UNDEFINED, to_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from negotiator.classad.context import EvaluationState, Node


@attrs.define
class InternalReferences:
    """A walk over an expression and the attributes it reaches, in the current scope of ``state``.

    ``selecting`` is true in what selects an attribute, such as ``a`` in ``a.b``: an ad there is not walked through.
    """

    state: EvaluationState
    selecting: bool = False
    seen: dict[bytes, str] = attrs.field(factory=dict)

    def names(self, expr: Node) -> list[str] | None:
        """Return the sorted names; None if a limit ends the walk, or what selects a name is not an ad."""
        if not self._walk(expr, self.state.levels_left):
            return None
        return [self.seen[key] for key in sorted(self.seen)]

    def _walk(self, expr: Node, depth: int) -> bool:
        pending = [expr]
        while pending:
            node = pending.pop()
            self.state.charge(1)
            if isinstance(node, Attr):
                if not self._reference(node, depth):
                    return False
            elif isinstance(node, ValueNode | RecordExpr | ListExpr):
                below = self._inside(node)
                if below is None or not all(depth > 0 and self._walk(each, depth - 1) for each in below):
                    return False
            elif isinstance(node, Call):
                pending += reversed(node.args)
            else:
                pending += reversed(children(node))
        return True

    def _inside(self, node: ValueNode | RecordExpr | ListExpr) -> Iterable[Node] | None:
        """Return the expressions in an ad or a list; None for a list that a predefined name stands for."""
        if isinstance(node, ListExpr):
            return node.items
        if isinstance(node, ValueNode) and not isinstance(node.value, AdValue):
            return None
        if self.selecting:
            return ()
        items = node.items if isinstance(node, RecordExpr) else node.value.ad.items()  # type: ignore[union-attr]
        return [expr for _, expr in stored_order(items)]

    def _reference(self, expr: Attr, depth: int) -> bool:
        state = self.state
        current = state.current
        start: AdScope | None = root(state) if expr.absolute else current
        if expr.scope is not None:
            if not self._selected(expr.scope, depth):
                return False
            value = state.evaluate_argument(expr.scope)
            if value is UNDEFINED:
                return True
            start = value.scope if isinstance(value, AdValue) else None
        if start is None:
            return False
        try:
            found = find_upwards(state, start, fold(expr.name))
            return found is None or self._followed(found, expr.name, depth)
        finally:
            state.current = current

    def _selected(self, scope: Node, depth: int) -> bool:
        before, self.selecting = self.selecting, True
        walked = self._walk(scope, depth)
        self.selecting = before
        return walked

    def _followed(self, found: Node, name: str, depth: int) -> bool:
        """Note a name that the ad itself has, and walk through its expression."""
        if self.state.current is root(self.state) and fold(name) in self.state.current.positions:
            self.seen.setdefault(to_bytes(fold(name)), name)
        return depth > 0 and self._walk(found, depth - 1)
