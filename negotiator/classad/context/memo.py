"""The memo of a long evaluation: values of attributes, so that work that doubles with each attribute is done once.

``a1 = a0 + a0``, ``a2 = a1 + a1`` and so on take 2**n steps to evaluate, and a user may write them. An evaluation that
has taken many steps therefore starts to remember the values of the attributes it evaluates. Using a remembered value
charges the steps that computing it took, so that an evaluation ends the same way with or without a memo.

A remembered value is used only where computing it again would give the same:

- in the same ad, within an evaluation that began in the same ad (``.x`` and ``root`` start there);
- with as many levels left; with more, if the level limit did not affect the value;
- if none of the attributes evaluated for it is being evaluated now: that would now be a circular reference;
- if the attributes that were circular references then are still being evaluated;
- if it did not depend on ``random()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Hashable

    from negotiator.classad.context.scope import AdScope, ClassAdValue, EvaluationState, Node

MAX_VALUES: Final = 10_000
MAX_NAMES: Final = 20_000
"""The number of attributes that get a bit of their own. Sets of attributes are integers of that many bits."""

_Circles: TypeAlias = frozenset["tuple[AdScope, str]"]
_NONE: Final[_Circles] = frozenset()


@attrs.frozen(eq=False)
class _MemoizedValue:
    """A value, the steps it took, and the conditions for using it again.

    ``reached`` is the set of attributes evaluated for it. ``circles`` are the references that were circular, since
    their attributes were being evaluated. If ``level_dependent``, the value holds for exactly ``levels_left``,
    otherwise also for more. It holds for ``nesting`` and less.
    """

    value: ClassAdValue
    steps: int
    levels_left: int
    nesting: int
    level_dependent: bool
    reached: int
    circles: _Circles


@attrs.frozen(eq=False)
class _PendingValue:
    """A value that is being computed: its key, and the counts and sets of the memo from before, to be restored."""

    key: Hashable
    attribute: tuple[AdScope, str] | None
    steps: int
    active: int
    reached: int
    circles: _Circles
    not_reusable: int
    level_dependent: int


class Memo:
    """The values that one evaluation remembers, and the conditions collected for the innermost pending one.

    ``active`` is the set of attributes being evaluated in this epoch (an epoch is one nested evaluation, in which the
    attributes evaluated around it are not circular references). ``reached`` and ``circles`` collect the
    conditions of the pending value. ``not_reusable`` and ``level_dependent`` are counters: an event that makes pending
    values unusable, or usable for exactly this many levels, increments one, and each pending value whose counter
    changed since it began is affected.
    """

    __slots__ = (
        "_bits",
        "_known",
        "_state",
        "active",
        "circles",
        "level_dependent",
        "not_reusable",
        "reached",
    )

    def __init__(self, state: EvaluationState) -> None:
        self._state = state
        self._known: dict[Hashable, _MemoizedValue] = {}
        self._bits: dict[tuple[AdScope, str], int] = {}
        self.active = self.reached = 0
        self.circles = _NONE
        self.not_reusable = self.level_dependent = 0

    def evaluate_attribute(self, scope: AdScope, name: str, expr: Node, since: int | None) -> ClassAdValue:
        """Return the value of an attribute, which the caller has marked as being evaluated.

        ``since`` is the earlier epoch in which it was being evaluated already, if any. (In this epoch the reference
        would have been circular.)
        """
        attribute = (scope, name)
        bit = self._bit(attribute)
        if not bit or since is not None:
            self.not_reusable += 1  # without a bit of its own, a later circular reference would go unnoticed
        key = (attribute, self._state.base, self._state.contexts)
        known = self._find(key)
        if known is not None:
            return known.value
        pending = self._begin(key, attribute, bit)
        try:
            value = self._state.evaluate(expr)
        except BaseException:
            self._end(pending, None)
            raise
        self._end(pending, value)
        return value

    def evaluate_nested(self, scope: AdScope, name: str, expr: Node, depth: int) -> ClassAdValue:
        """Return the value of an attribute of ``scope`` in a nested evaluation, which has its own levels."""
        key = (scope, name, self._state.contexts)
        known = self._find(key)
        if known is not None:
            return known.value
        pending = self._begin(key)
        try:
            value = self._state.evaluate_in(scope, expr, depth)
        except BaseException:
            self._end(pending, None)
            raise
        self._end(pending, value)
        return value

    def note_circle(self, scope: AdScope, name: str) -> None:
        """Record a circular reference: to an attribute that is being evaluated."""
        self.circles |= {(scope, name)}

    def _bit(self, attribute: tuple[AdScope, str]) -> int:
        """Return the set of this attribute alone, the empty set if too many have a bit already."""
        position = self._bits.get(attribute)
        if position is None:
            if len(self._bits) >= MAX_NAMES:
                return 0
            position = self._bits[attribute] = len(self._bits)
        return 1 << position

    def _find(self, key: Hashable) -> _MemoizedValue | None:
        """Return the remembered value if it holds here, after charging its steps.

        :raises Exhausted: there are fewer steps left.
        """
        known = self._known.get(key)
        if known is None or not self._holds(known):
            return None
        # The surrounding pending value now rests on the same attributes and circles as the remembered one.
        self._state.charge(known.steps)
        self.reached |= known.reached
        self.circles |= known.circles
        return known

    def _holds(self, known: _MemoizedValue) -> bool:
        state = self._state
        # With more levels the value is the same, unless the level limit cut something off (``level_dependent``).
        enough = (
            state.levels_left == known.levels_left
            if known.level_dependent
            else state.levels_left >= known.levels_left
        )
        return (
            enough
            and state.nesting <= known.nesting
            and not known.reached & self.active
            and all(scope.active.get(name) == state.epoch for scope, name in known.circles)
        )

    def _begin(
        self, key: Hashable, attribute: tuple[AdScope, str] | None = None, bit: int = 0
    ) -> _PendingValue:
        """Start a pending value. ``attribute`` is None in a nested evaluation, where nothing is being evaluated yet."""
        pending = _PendingValue(
            key,
            attribute,
            self._state.remaining,
            self.active,
            self.reached,
            self.circles,
            self.not_reusable,
            self.level_dependent,
        )
        # The conditions of an inner value begin empty; ``_end`` adds them to those of the outer one.
        self.active |= bit
        self.reached, self.circles = bit, _NONE
        return pending

    def _end(self, pending: _PendingValue, value: ClassAdValue | None) -> None:
        """Remember the value, if any, and add its conditions to those of the surrounding pending value."""
        state = self._state
        # A circle that closes at this attribute is inside the value and no condition of it.
        circles = self.circles - {pending.attribute}
        if value is not None and self.not_reusable == pending.not_reusable:
            # Emptied, not pruned: which values are remembered affects the time of an evaluation, never its result.
            if len(self._known) >= MAX_VALUES:
                self._known.clear()
            steps = pending.steps - state.remaining
            level_dependent = self.level_dependent != pending.level_dependent
            self._known[pending.key] = _MemoizedValue(
                value, steps, state.levels_left, state.nesting, level_dependent, self.reached, circles
            )
        self.active = pending.active
        self.reached |= pending.reached
        self.circles = circles | pending.circles
