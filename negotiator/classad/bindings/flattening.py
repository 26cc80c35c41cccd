"""Partial evaluation as ``ClassAd.flatten`` does it: HTCondor's, with HTCondor's text as the result.

What one ad alone decides becomes a constant; what it does not is left as written. ``columnar.partial`` folds for matches
instead: it knows two ads, may drop what cannot count, and its result is never shown.

In operators that may change their order (``+ * & | ^ && ||``) the constants of a chain are gathered at the left:
``zz + 1 + 2`` is ``3 + zz``. While a chain is folded, its constant and its rest are therefore apart (``_Flat.op``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import attrs

from negotiator.classad.bindings.python_objects import ClassAdValueError
from negotiator.classad.context import (
    BINARY,
    UNARY,
    AdScope,
    AdValue,
    EvaluationFailed,
    EvaluationState,
    Exhausted,
    ListValue,
    Memo,
    enter_ads,
    evaluate_subscript,
    find_reference,
    item_expression,
    root,
    truth,
)
from negotiator.classad.functions import FUNCTIONS
from negotiator.classad.scalar import compiled
from negotiator.classad.syntax import (
    Attr,
    AttributeMap,
    Binary,
    Call,
    Conditional,
    Elvis,
    Expr,
    ListExpr,
    Literal,
    Paren,
    RecordExpr,
    Subscript,
    Unary,
    fold,
)
from negotiator.classad.values import ERROR, UNDEFINED

if TYPE_CHECKING:
    from negotiator.classad.context import ClassAdValue, Environment, Node

MAX_STEPS: Final = 100_000
"""Steps of one flattening: attributes that refer to each other twice, in a long row, would take for ever."""

_GATHERED: Final = frozenset({"+", "*", "&", "|", "^", "&&", "||"})
_DECIDING: Final = frozenset({"&&", "||"})


class _Flat(NamedTuple):
    """A flattened part: a value if ``tree`` is None, otherwise a tree; with ``op`` it is ``value op tree``."""

    value: ClassAdValue
    tree: Expr | None = None
    op: str = ""

    @property
    def expression(self) -> Expr:
        """The part as an expression.

        :raises EvaluationFailed: it is a list or an ad made by a function, which no constant can be.
        """
        if self.op and self.tree is not None:
            return Binary(self.op, _constant(self.value), self.tree)
        return _constant(self.value) if self.tree is None else self.tree


def flatten(expr: Expr, ad: AttributeMap, env: Environment) -> ClassAdValue | Expr:
    """Return the value of an expression if one ad decides it, otherwise what is left of the expression.

    :raises ClassAdValueError: an attribute refers to itself, a function refuses its arguments, or a limit is reached.
    """
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, ad, None)
    state.limit_steps(MAX_STEPS)
    try:
        flat = _Flattening(state).part(expr)
        found = flat.value if flat.tree is None else flat.expression
    except EvaluationFailed:
        reason = "an attribute refers to itself, or a function refuses its arguments or returns a list"
    except (Exhausted, RecursionError, MemoryError):
        reason = "it takes too many steps, or is too deep"
    else:
        return found
    raise ClassAdValueError(f"Unable to flatten expression: {reason}")


def _constant(value: ClassAdValue) -> Expr:
    if isinstance(value, ListValue | AdValue):
        raise EvaluationFailed
    return item_expression(value)


@attrs.define
class _Flattening:
    """Flattens one tree in the current scope of ``state``.

    ``around`` is the ad in which the part is written: the names of a record are looked up there next. The tree that is
    flattened is in none.
    """

    state: EvaluationState
    around: AdScope | None = None

    def part(self, expr: Expr, *, apart: bool = False) -> _Flat:
        """Flatten a part; with ``apart`` the constant of a chain may stay apart from its rest."""
        self.state.charge(1)
        make = self.kinds.get(type(expr))
        if make is None:
            return _Flat(UNDEFINED, expr)
        if type(expr) is Binary and expr.op in _GATHERED:
            return self._chain(expr, apart=apart)
        return make(self, expr)

    def _literal(self, expr: Literal) -> _Flat:
        return _Flat(expr.value)

    def _chain(self, expr: Binary, *, apart: bool) -> _Flat:
        chain: list[Binary] = []
        leftmost: Expr = expr
        while type(leftmost) is Binary and leftmost.op in _GATHERED:
            chain.append(leftmost)
            leftmost = leftmost.left
        flat = self.part(leftmost)
        for node in reversed(chain):
            self.state.charge(1)
            flat = _combined(node.op, flat, self.part(node.right, apart=True))
        return flat if apart or not flat.op else _Flat(UNDEFINED, flat.expression)

    def _binary(self, expr: Binary) -> _Flat:
        left, right = self.part(expr.left), self.part(expr.right)
        if left.tree is None and right.tree is None:
            return _Flat(BINARY[expr.op](left.value, right.value))
        return _Flat(UNDEFINED, Binary(expr.op, left.expression, right.expression))

    def _unary(self, expr: Unary) -> _Flat:
        inner = self.part(expr.operand)
        if inner.tree is None:
            return _Flat(UNARY[expr.op](inner.value))
        return _Flat(UNDEFINED, Unary(expr.op, inner.tree))

    def _paren(self, expr: Paren) -> _Flat:
        inner = self.part(expr.inner)
        return inner if inner.tree is None else _Flat(UNDEFINED, Paren(inner.tree))

    def _conditional(self, expr: Conditional) -> _Flat:
        test = self.part(expr.test)
        if test.tree is None and test.value is not UNDEFINED:
            condition = truth(test.value)
            if not isinstance(condition, bool):
                return _Flat(ERROR)
            return self.part(expr.yes if condition else expr.no)
        choice = expr.test if test.tree is None else test.tree
        yes, no = self.part(expr.yes), self.part(expr.no).expression
        if yes.tree is None and isinstance(yes.value, ListValue | AdValue):
            return _Flat(
                UNDEFINED, Elvis(choice, no)
            )  # HTCondor has no tree for such a branch, and leaves it out
        return _Flat(UNDEFINED, Conditional(choice, yes.expression, no))

    def _elvis(self, expr: Elvis) -> _Flat:
        value, fallback = self.part(expr.value), self.part(expr.fallback)
        if value.tree is None and fallback.tree is None:
            return fallback if value.value is UNDEFINED else value
        return _Flat(UNDEFINED, Elvis(value.expression, fallback.expression))

    def _subscript(self, expr: Subscript) -> _Flat:
        container, index = self.part(expr.container), self.part(expr.index)
        if container.tree is None and index.tree is None:
            state = self.state
            return _Flat(evaluate_subscript(state, container.value, index.value, state.levels_left))
        return _Flat(UNDEFINED, Subscript(container.expression, index.expression))

    def _call(self, expr: Call) -> _Flat:
        if fold(expr.name) not in FUNCTIONS:
            return _Flat(ERROR)
        args = [self.part(arg) for arg in expr.args]
        trees = tuple([arg.expression for arg in args])
        if any(arg.tree is not None for arg in args):
            return _Flat(UNDEFINED, Call(expr.name, trees))
        return _Flat(self.state.evaluate_argument(expr))

    def _list(self, expr: ListExpr) -> _Flat:
        return _Flat(UNDEFINED, ListExpr(tuple([self.part(item).expression for item in expr.items])))

    def _record(self, expr: RecordExpr) -> _Flat:
        ad, current, around = AttributeMap(expr.items), self.state.current, self.around
        self.state.current = self.around = AdScope(ad, around, self.state)
        items = tuple([(name, self.part(item).expression) for name, item in ad.items()])
        self.state.current, self.around = current, around
        return _Flat(UNDEFINED, RecordExpr(items))

    def _reference(self, expr: Attr) -> _Flat:
        state = self.state
        start = self._holder(expr)
        if not isinstance(start, AdScope):
            return start
        current = state.current
        found = find_reference(state, start, fold(expr.name), unscoped=False)
        flat = _Flat(UNDEFINED, expr) if found is None else self._followed(found, expr)
        state.current = current
        return flat

    def _holder(self, expr: Attr) -> AdScope | _Flat:
        """Return where the name of a reference is looked up, or what the reference is if that is not an ad."""
        if expr.scope is None:
            return root(self.state) if expr.absolute else self.state.current
        if self.state.levels_left <= 0:
            return _Flat(ERROR)
        self.state.levels_left -= 1
        value = self.state.evaluate_argument(expr.scope)
        self.state.levels_left += 1
        if value is UNDEFINED or isinstance(value, ListValue):
            return _Flat(UNDEFINED, expr)
        return value.scope if isinstance(value, AdValue) else _Flat(ERROR)

    def _followed(self, found: Node, expr: Attr) -> _Flat:
        """Flatten the expression of an attribute; only a value takes the place of the reference."""
        if type(found) not in self.kinds or isinstance(found, RecordExpr):
            return _Flat(UNDEFINED, expr)
        if self.state.levels_left <= 0:
            raise EvaluationFailed
        around, self.around = self.around, self.state.current
        self.state.levels_left -= 1
        flat = self.part(found)  # type: ignore[arg-type]
        self.state.levels_left += 1
        self.around = around
        return flat if flat.tree is None else _Flat(UNDEFINED, expr)

    kinds: ClassVar[dict[type, Callable[..., _Flat]]] = {
        Literal: _literal,
        Attr: _reference,
        Binary: _binary,
        Unary: _unary,
        Paren: _paren,
        Conditional: _conditional,
        Elvis: _elvis,
        Subscript: _subscript,
        Call: _call,
        ListExpr: _list,
        RecordExpr: _record,
    }


def _combined(op: str, left: _Flat, right: _Flat) -> _Flat:
    """Return two flattened operands of an operator of ``_GATHERED`` as one part."""
    if left.tree is None and right.tree is None:
        # HTCondor has both values here: `true || "a"` is an error, which the evaluation of the operator would not reach.
        values = (left.value, right.value)
        wrong = op in _DECIDING and any(truth(each) is ERROR and each is not ERROR for each in values)
        return _Flat(ERROR if wrong else BINARY[op](left.value, right.value))
    if op in _DECIDING and (left.tree is None or right.tree is None):
        decided = _decided(op, left, right)
        if decided is not None:
            return decided
        if op == "||":
            left, right = (_as_condition(each) for each in (left, right))
    others = [each.op for each in (left, right) if each.op not in {"", op}]
    if others and op not in {left.op, right.op}:
        return _Flat(UNDEFINED, Binary(op, left.expression, right.expression))
    # A part of another operator is one operand. HTCondor forgets its constant: ``1 + x + 3 * y`` loses the 3.
    left, right = (
        each if each.op in {"", op} else _Flat(UNDEFINED, each.expression) for each in (left, right)
    )
    constants = [each.value for each in (left, right) if each.tree is None or each.op]
    trees = [each.tree for each in (left, right) if each.tree is not None]
    tree = trees[0] if len(trees) == 1 else Binary(op, *trees)
    if not constants:
        return _Flat(UNDEFINED, tree)
    return _Flat(constants[0] if len(constants) == 1 else BINARY[op](*constants), tree, op)


def _as_condition(flat: _Flat) -> _Flat:
    """Return false for a constant that is not true, ``0 || x``; all else as it is."""
    return _Flat(False) if flat.tree is None and truth(flat.value) is False else flat


def _decided(op: str, left: _Flat, right: _Flat) -> _Flat | None:
    """Return what a constant operand of ``&&`` or ``||`` decides: the value, or that the other operand counts alone."""
    known, rest = (left, right) if left.tree is None else (right, left)
    unknown = _Flat(UNDEFINED)
    pair = (known, unknown) if known is left else (unknown, known)
    value = BINARY[op](pair[0].value, pair[1].value)
    if isinstance(value, bool):
        return _Flat(value)
    return rest if op == "&&" and truth(known.value) is True else None
