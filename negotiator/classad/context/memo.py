"""What a long evaluation remembers: values of attributes, so that work that doubles with each attribute is done once.

``a1 = a0 + a0``, ``a2 = a1 + a1`` and so on takes 2**n steps to evaluate, and a user may write it. An evaluation
that has taken many steps therefore begins to remember what comes of the attributes it follows. A value that is
remembered costs the steps that finding it took, so that an evaluation ends alike whether or not it remembers.

It is used again only where finding it again would give the same:

- in the same ad, reached from the same beginning (``.x`` and ``root`` start there);
- with as many levels left, or more where the levels did not matter;
- where no attribute is being evaluated that was followed for it: that would be a circle now;
- where those are still being evaluated that were a circle then;
- if nothing was drawn by chance for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Hashable

    from negotiator.classad.context.scope import AdScope, EvaluationState, Node, Value

MAX_VALUES: Final = 10_000
MAX_NAMES: Final = 20_000
"""Attributes that are told apart; a set of them is an integer of so many bits."""

_Circles: TypeAlias = frozenset["tuple[AdScope, str]"]
_NONE: Final[_Circles] = frozenset()


@attrs.frozen(eq=False)
class _MemoizedValue:
    """A value, the steps it took, and where it holds.

    ``reached`` are the attributes that were followed, ``circles`` those that could not be, since they were being
    evaluated. With other ``depth`` or deeper ``nesting`` than this the value may be another, unless ``levels`` did not
    matter: then it is the same with more levels.
    """

    value: Value
    steps: int
    depth: int
    nesting: int
    levels: bool
    reached: int
    circles: _Circles


@attrs.frozen(eq=False)
class _PendingValue:
    """A value that is being found: its key, and what has been met before that does not belong to it."""

    key: Hashable
    own: tuple[AdScope, str] | None
    steps: int
    active: int
    reached: int
    circles: _Circles
    once: int
    limited: int


class Memo:
    """The values that one evaluation remembers, and what has been met since the one being found was begun.

    ``active`` are the attributes being evaluated since the memo began, in the present epoch. ``once`` and ``limited``
    count what makes the values that are being found hold only this once, and only with as many levels.
    """

    __slots__ = ("_bits", "_known", "_state", "active", "circles", "limited", "once", "reached")

    def __init__(self, state: EvaluationState) -> None:
        self._state = state
        self._known: dict[Hashable, _MemoizedValue] = {}
        self._bits: dict[tuple[AdScope, str], int] = {}
        self.active = self.reached = 0
        self.circles = _NONE
        self.once = self.limited = 0

    def follow(self, scope: AdScope, name: str, expr: Node, since: int | None) -> Value:
        """Return the value of an attribute, which the caller has noted as being evaluated.

        ``since`` is the epoch since which it was being evaluated already. That is not this one, or it were a circle.
        """
        own = (scope, name)
        bit = self._bit(own)
        if not bit or since is not None:
            self.once += 1  # of what follows it, it could not be told later whether it is a circle
        key = (own, self._state.base, self._state.contexts)
        known = self._find(key)
        if known is not None:
            return known.value
        begun = self._begin(key, own, bit)
        try:
            value = self._state.start(expr)
        except BaseException:
            self._end(begun, None)
            raise
        self._end(begun, value)
        return value

    def afresh(self, scope: AdScope, name: str, expr: Node, depth: int) -> Value:
        """Return the value of an attribute of ``scope``, where a new evaluation has begun, with its own levels."""
        key = (scope, name, self._state.contexts)
        known = self._find(key)
        if known is not None:
            return known.value
        begun = self._begin(key)
        try:
            value = self._state.start_in(scope, expr, depth)
        except BaseException:
            self._end(begun, None)
            raise
        self._end(begun, value)
        return value

    def circle(self, scope: AdScope, name: str) -> None:
        """Note that an attribute was reached which is being evaluated."""
        self.circles |= {(scope, name)}

    def _bit(self, own: tuple[AdScope, str]) -> int:
        """Return the set of this attribute alone, the empty one where too many are known."""
        place = self._bits.get(own)
        if place is None:
            if len(self._bits) >= MAX_NAMES:
                return 0
            place = self._bits[own] = len(self._bits)
        return 1 << place

    def _find(self, key: Hashable) -> _MemoizedValue | None:
        """Return what is remembered, if it holds here, and take its steps. Raises ``Exhausted``."""
        known = self._known.get(key)
        if known is None or not self._holds(known):
            return None
        self._state.charge(known.steps)
        self.reached |= known.reached
        self.circles |= known.circles
        return known

    def _holds(self, known: _MemoizedValue) -> bool:
        state = self._state
        enough = state.depth == known.depth if known.levels else state.depth >= known.depth
        return (
            enough
            and state.nesting <= known.nesting
            and not known.reached & self.active
            and all(scope.active.get(name) == state.epoch for scope, name in known.circles)
        )

    def _begin(self, key: Hashable, own: tuple[AdScope, str] | None = None, bit: int = 0) -> _PendingValue:
        """Begin to find a value: of the attribute ``own``, unless an evaluation begins afresh that knows of none."""
        begun = _PendingValue(
            key, own, self._state.remaining, self.active, self.reached, self.circles, self.once, self.limited
        )
        self.active |= bit
        self.reached, self.circles = bit, _NONE
        return begun

    def _end(self, begun: _PendingValue, value: Value | None) -> None:
        """End what was begun and remember its value, if there is one; what was met belongs to what is around it too."""
        state = self._state
        circles = self.circles - {begun.own}
        if value is not None and self.once == begun.once:
            if len(self._known) >= MAX_VALUES:
                self._known.clear()
            steps, levels = begun.steps - state.remaining, self.limited != begun.limited
            self._known[begun.key] = _MemoizedValue(
                value, steps, state.depth, state.nesting, levels, self.reached, circles
            )
        self.active = begun.active
        self.reached |= begun.reached
        self.circles = circles | begun.circles
