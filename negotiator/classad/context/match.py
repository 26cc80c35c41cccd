"""The scopes of a match (SEMANTICS section 4): each of the two ads inside a context ad, both inside the match ad."""

from __future__ import annotations

from typing import Final

from negotiator.classad.context.environment import Environment, EvaluationFailed, Exhausted
from negotiator.classad.context.scope import (
    AdScope,
    AdValue,
    ClassAdValue,
    EvaluationState,
    NoScope,
    ValueNode,
)
from negotiator.classad.syntax import Attr, AttributeMap, Binary, Expr, RecordExpr, fold
from negotiator.classad.values import ERROR

_EMPTY: Final = AttributeMap()


class _Match(AdScope):
    """The match ad. Its complete value is built only if an expression uses the ad as a whole."""

    __slots__ = ()

    def value(self) -> AdValue:
        if self._value is None:
            state, right = self.state, self.state.left.alternate
            ads = (state.left.ad, _EMPTY if right is None else right.ad, _LEFT_CONTEXT, _RIGHT_CONTEXT)
            records = [RecordExpr(tuple(ad.items())) for ad in ads]
            self.ad = self.ad.with_items(zip(_MATCH_SCOPES, records, strict=True))
            self._value = AdValue(self.ad, self)
        return self._value


class _MatchSide(AdScope):
    """One of the two ads. The scopes around it are built only when a look-up leaves the ad, which is rare."""

    __slots__ = ()

    def enclosing(self) -> AdScope | None:
        right = self.state.left.alternate
        if self.parent is None and right is not None:
            _build_match(self.state, right)
        return self.parent


def enter_ads(state: EvaluationState, my: AttributeMap | None, target: AttributeMap | None) -> None:
    """Set the scopes of a new evaluation: it starts in ``my``, matched with ``target`` if given."""
    if my is None and target is None:
        scope: AdScope = NoScope(state)
    else:
        scope = _side(state, my)
        if target is not None:
            other = _side(state, target)
            scope.alternate, other.alternate = other, scope
    state.left = state.base = state.current = scope


def _side(state: EvaluationState, ad: AttributeMap | None) -> AdScope:
    scope = _MatchSide(_EMPTY if ad is None else ad, None, state)
    scope.side = scope
    return scope


def _build_match(state: EvaluationState, right: AdScope) -> None:
    """Put the two ads into their context ads, and those into the match ad."""
    left = state.left
    match = _Match(_MATCH, None, state)
    contexts = (AdScope(_LEFT_CONTEXT, match, state), AdScope(_RIGHT_CONTEXT, match, state))
    left.parent, right.parent = contexts
    # The ads become attributes of the match ad by position, without copying them into a new AttributeMap.
    match.positions = _MATCH_POSITIONS
    scopes = [ValueNode(scope.value()) for scope in (left, right, *contexts)]
    match.expressions = [*match.expressions, *scopes]


def _context(mine: str, other: str) -> AttributeMap:
    return AttributeMap(
        (
            ("other", Attr(other, absolute=True)),
            ("target", Attr(other, absolute=True)),
            ("my", Attr(mine, absolute=True)),
            ("ad", Attr(mine, absolute=True)),
        )
    )


_LEFT_CONTEXT: Final = _context("LEFT", "RIGHT")
_RIGHT_CONTEXT: Final = _context("RIGHT", "LEFT")
_MATCH: Final = AttributeMap(
    (
        (
            "symmetricMatch",
            Binary("&&", Attr("requirements", Attr("RIGHT")), Attr("requirements", Attr("LEFT"))),
        ),
        ("leftMatchesRight", Attr("requirements", Attr("RIGHT"))),
        ("rightMatchesLeft", Attr("requirements", Attr("LEFT"))),
        ("leftRankValue", Attr("rank", Attr("LEFT"))),
        ("rightRankValue", Attr("rank", Attr("RIGHT"))),
    )
)
_MATCH_SCOPES: Final = ("LEFT", "RIGHT", "lCtx", "rCtx")
_MATCH_POSITIONS: Final = {
    fold(name): position for position, name in enumerate((*_MATCH.names(), *_MATCH_SCOPES))
}
_OUTER: Final = (_MATCH, _LEFT_CONTEXT, _RIGHT_CONTEXT)

SPECIAL_NAMES: Final = frozenset({"my", "self", "parent", "root", "toplevel", "currenttime"})
"""Names with a predefined meaning in every scope without an attribute of that name."""

RESERVED: Final = SPECIAL_NAMES.union(_MATCH_POSITIONS, (fold(name) for ad in _OUTER for name in ad))
"""Names that an ad of a match resolves although it lacks them."""


def evaluate_alone(state: EvaluationState, ad: AttributeMap, expr: Expr) -> ClassAdValue:
    """Return the value of an expression in one ad, in a separate evaluation; error if that fails."""
    fresh = EvaluationState(Environment(), state.compile, state.make_memo)
    enter_ads(fresh, ad, None)
    try:
        return fresh.evaluate(expr)
    except (EvaluationFailed, Exhausted, RecursionError, MemoryError):
        return ERROR
