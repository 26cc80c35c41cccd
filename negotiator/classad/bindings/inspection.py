"""What can be found out about an expression: whether it equals another one, and the attributes it refers to in an ad."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.classad.bindings.python_objects import ClassAdValueError
from negotiator.classad.context import (
    AdScope,
    AdValue,
    EvaluationFailed,
    EvaluationState,
    Exhausted,
    Memo,
    ValueNode,
    enter_ads,
    find_upwards,
    root,
)
from negotiator.classad.functions import ExternalReferences
from negotiator.classad.scalar import compiled
from negotiator.classad.syntax import (
    Attr,
    Binary,
    Call,
    Expr,
    ListExpr,
    Literal,
    RecordExpr,
    Unary,
    children,
    fold,
    stored_order,
)
from negotiator.classad.values import UNDEFINED, to_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from negotiator.classad.context import Environment, Node
    from negotiator.classad.syntax import AttributeMap

MAX_STEPS: Final = 100_000
"""Steps of one walk: attributes that refer to each other twice, in a long row, would take for ever."""


def same_tree(one: Expr, other: Expr) -> bool:
    """True if two expressions are equal.

    Unlike equality of nodes it ignores the case of the names of a record's attributes only. Reals are equal if they differ by
    at most the epsilon of a double, 2.2e-16, whatever their size; so an infinite one is not equal to itself.
    """
    pending = [(one, other)]
    while pending:
        left, right = pending.pop()
        if left is right:
            continue
        if type(left) is not type(right) or not _alike(left, right):
            return False
        if isinstance(left, RecordExpr) and isinstance(right, RecordExpr):
            mine, theirs = _by_name(left), _by_name(right)
            if mine.keys() != theirs.keys():
                return False
            pending += [(expr, theirs[name]) for name, expr in mine.items()]
        else:
            below, others = children(left), children(right)
            if len(below) != len(others):
                return False
            pending += zip(below, others, strict=True)
    return True


def _alike(left: Expr, right: Expr) -> bool:
    """True if two nodes of one type are equal, apart from their operands."""
    match left, right:
        case Literal(), Literal():
            same_type = type(left.value) is type(right.value) and left.relative_time is right.relative_time
            if isinstance(left.value, float) and isinstance(right.value, float):
                return same_type and abs(left.value - right.value) <= sys.float_info.epsilon
            return same_type and left.value == right.value
        case Attr(), Attr():
            return left.name == right.name and left.absolute is right.absolute
        case Call(), Call():
            return left.name == right.name
        case Binary(), Binary():
            return left.op == right.op
        case Unary(), Unary():
            return left.op == right.op
        case _:
            return True


def _by_name(record: RecordExpr) -> dict[str, Expr]:
    return {fold(name): expr for name, expr in record.items}


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


def external_references(expr: Expr, ad: AttributeMap, env: Environment) -> list[str]:
    """Return the sorted names, with their scopes, that an ad lacks; one empty name if there are none, as in HTCondor.

    :raises ClassAdValueError: a name is selected from what is not an ad, an attribute refers to itself, or a limit is reached.
    """
    return _names(lambda state: ExternalReferences(state).full_names(expr), ad, env, "external")


def internal_references(expr: Expr, ad: AttributeMap, env: Environment) -> list[str]:
    """Return the sorted names that an ad has, also in its own expressions; one empty name if there are none.

    :raises ClassAdValueError: as for external references.
    """
    return _names(lambda state: InternalReferences(state).names(expr), ad, env, "internal")


def _names(
    walk: Callable[[EvaluationState], list[str] | None], ad: AttributeMap, env: Environment, kind: str
) -> list[str]:
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, ad, None)
    state.limit_steps(MAX_STEPS)
    try:
        names = walk(state)
    except (EvaluationFailed, Exhausted, RecursionError, MemoryError):
        names = None
    if names is None:
        raise ClassAdValueError(
            f"Unable to determine {kind} references: a name is selected from something that is not an ad, an attribute "
            "refers to itself, or the walk is too long"
        )
    return names or [""]
