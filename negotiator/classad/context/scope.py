"""Scopes, values with scopes, and the state of one evaluation: its limits, its inputs, who pays (SEMANTICS section 4).

The design copies HTCondor's, since its behaviour in odd cases follows from it. An evaluation has one *current* scope.
A look-up moves it to the ad that has the name (or, if none has, to the outermost ad), and an evaluated reference moves
it back. ``unresolved``, ``evalInEachContext`` and ``countMatches`` look a name up without moving back, which is the
upstream bug that SEMANTICS records.
"""

from __future__ import annotations

import random
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

import attrs

from negotiator.classad.syntax import Attr, AttributeMap, Expr, Literal, RecordExpr
from negotiator.classad.values import ERROR, UNDEFINED, AbsTime, Exceptional, RelTime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_LEVELS: Final = 400
MAX_STEPS: Final = 10_000_000

STEPS_OF_REFERENCE: Final = 15
"""Steps that are charged for each evaluated reference to an expression, besides its nodes; no limit counts them."""

STEPS_BEFORE_MEMO: Final = 10_000
"""Steps after which an evaluation gets a memo. Few evaluations take that many."""

_NO_CONTEXTS: Final[frozenset[AdScope]] = frozenset()
_NESTED_STEPS: Final = 40
_PYTHON_FRAMES: Final = 20_000
_EMPTY: Final = AttributeMap()


class EvaluationFailed(Exception):  # noqa: N818 - HTCondor's word: the evaluation fails, it has no value, not even error
    """The evaluation is given up: too many levels, or a function that refuses its arguments (``random(0)``).

    ``in_reference`` is True if what failed is the scope of a reference, such as ``x`` in ``x.y``, or an element it
    selects from. See ``value_left``.
    """

    in_reference = False


class Exhausted(Exception):  # noqa: N818
    """No steps are left, or evaluations are nested so deep that HTCondor would overflow its stack."""


@attrs.define(eq=False)
class Allowance:
    """Steps that several evaluations may take together. Counting steps, not time, makes the outcome reproducible.

    ``steps`` are left; negative if more were taken.
    """

    steps: int

    def charge(self, steps: int) -> None:
        """Subtract steps.

        :raises Exhausted: fewer were left.
        """
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted

    @property
    def exhausted(self) -> bool:
        """True if no steps are left."""
        return self.steps <= 0


@attrs.frozen(eq=False)
class Payers:
    """The allowances that evaluations over a table are charged to: each side pays for the expressions in its own ad.

    ``rows`` returns the allowance of an ad of the table, ``other`` is the allowance of the ad that the rows are matched
    with, None if they are evaluated alone. ``expression`` is the allowance of the expression that is evaluated, if
    it is in neither ad: a policy of the administrator.
    """

    rows: Callable[[AttributeMap], Allowance]
    other: Allowance | None = None
    expression: Allowance | None = None

    def of_single(self, ad: AttributeMap | None) -> Allowance:
        """Return the allowance of an ad that is evaluated without a table: the one that tables are matched with."""
        return self.other or self.rows(ad or AttributeMap())

    @property
    def exhausted(self) -> bool:
        """True if the ad that the rows are matched with has no steps left."""
        return self.other is not None and self.other.exhausted


@attrs.frozen
class Environment:
    """The inputs of an evaluation besides ads.

    ``now`` is in seconds since the epoch, ``zone_offset`` in seconds east of UTC. ``random()`` draws from
    ``generator``, which starts from ``seed``, so that a cycle can be replayed. Without ``payers`` the steps of an
    evaluation are limited, but charged to nobody.
    """

    now: float = 0.0
    seed: int = 0
    zone_offset: int = 0
    payers: Payers | None = attrs.field(default=None, eq=False, repr=False)

    @cached_property
    def generator(self) -> random.Random:
        """The generator of ``random()``."""
        return random.Random(self.seed)  # noqa: S311 - not used for secrets


@attrs.frozen(eq=False)
class ListValue:
    """A list. Its elements stay expressions until they are used.

    ``L[i]`` evaluates an element in ``scope``, the scope of the list literal. A function evaluates the elements in the
    scope of the call. ``self_contained``: it belongs to no expression but was made by a function (``split``), or copied
    by ``ad["name"]``. HTCondor considers such values another type, which ``=?=`` shows.
    """

    items: tuple[Expr, ...]
    scope: AdScope
    self_contained: bool = False


@attrs.frozen(eq=False)
class AdValue:
    """An ad as a value, with its scope. The parent of the scope is what encloses the ad.

    ``self_contained`` as for a list.
    """

    ad: AttributeMap
    scope: AdScope
    self_contained: bool = False


ClassAdValue: TypeAlias = Exceptional | bool | int | float | str | AbsTime | RelTime | ListValue | AdValue


@attrs.frozen(eq=False)
class ValueNode:
    """A node for an ad or a list that is already a value. No text parses to it."""

    value: AdValue | ListValue


Node: TypeAlias = Expr | ValueNode


def value_left(failure: EvaluationFailed, expr: Node) -> ClassAdValue:
    """Return what takes the place of the value of an expression that failed, where HTCondor goes on after a failure.

    Operators and functions leave error in their result. A reference whose scope failed leaves it untouched: undefined.
    """
    return UNDEFINED if failure.in_reference and type(expr) is Attr else ERROR


class Run(Protocol):
    """A compiled tree."""

    def __call__(self, state: EvaluationState, /) -> ClassAdValue:
        """Return the value of the tree in the current scope.

        :raises EvaluationFailed: the evaluation is given up.
        :raises Exhausted: no steps are left.
        """


class Compiled(NamedTuple):
    """A compiled tree.

    ``run`` needs ``levels`` levels left and does not count them; ``counting`` counts them. ``guard`` is at least
    ``levels``: with more levels left the caller may use ``run`` without further checks. ``size`` is the number of nodes.
    """

    expr: Node
    run: Run
    counting: Run
    levels: int
    guard: int
    size: int


class Memory(Protocol):
    """The interface of ``memo.Memo``, which is above this module."""

    active: int
    not_reusable: int
    level_dependent: int

    def evaluate_attribute(self, scope: AdScope, name: str, expr: Node, since: int | None) -> ClassAdValue:
        """Return the value of an attribute."""

    def evaluate_nested(self, scope: AdScope, name: str, expr: Node, depth: int) -> ClassAdValue:
        """Return the value of an attribute in a nested evaluation."""

    def note_circle(self, scope: AdScope, name: str) -> None:
        """Record a circular reference."""


class EvaluationState:
    """The state of one evaluation: its scopes and its remaining budgets.

    ``current`` is the current scope, ``base`` the scope where evaluation began, ``left`` the scope of my ad in a match.
    ``levels_left`` and ``steps``, then ``reserve``, are budgets. ``nesting`` counts nested evaluations of arguments and
    elements, which HTCondor does not limit (it crashes). ``references`` counts the evaluated ones to
    expressions. ``my_steps`` and ``target_steps`` are those that the attributes of each ad took: its owner is charged for them. ``paying`` is the side of
    the innermost attribute that is being evaluated, None in the expression itself. ``epoch`` is the number of the innermost nested evaluation.
    ``contexts`` are the scopes that temporarily have another ad to fall back to.

    The evaluation gets a ``memo`` when ``steps`` runs out and it uses the reserve. From then on ``steps`` is 0, which
    makes ``lookup.evaluate_attribute`` take its slow path: every attribute then goes through the memo, and evaluations
    without a memo pay nothing for the check.
    """

    __slots__ = (
        "base",
        "compile",
        "contexts",
        "current",
        "env",
        "epoch",
        "epochs",
        "left",
        "levels_left",
        "make_memo",
        "memo",
        "my_steps",
        "nesting",
        "paying",
        "references",
        "reserve",
        "steps",
        "target_steps",
    )

    current: AdScope
    base: AdScope
    left: AdScope

    def __init__(
        self,
        env: Environment,
        compile_node: Callable[[Node], Compiled],
        make_memo: Callable[[EvaluationState], Memory],
    ) -> None:
        self.env = env
        self.compile = compile_node
        self.make_memo = make_memo
        self.levels_left = MAX_LEVELS
        self.steps = STEPS_BEFORE_MEMO
        self.reserve = MAX_STEPS - STEPS_BEFORE_MEMO
        self.nesting = 0
        self.my_steps = self.target_steps = self.references = 0
        self.paying: AdScope | None = None
        self.epoch = self.epochs = 1
        self.contexts = _NO_CONTEXTS
        self.memo: Memory | None = None

    @property
    def remaining(self) -> int:
        """The steps left; negative if more were charged."""
        return self.steps + self.reserve

    def limit_steps(self, steps: int) -> int:
        """Limit an evaluation that has not begun to this many steps. Return how many it has then."""
        granted = min(self.remaining, steps)
        self.steps = min(self.steps, granted)
        self.reserve = granted - self.steps
        return granted

    def charge(self, steps: int) -> None:
        """Subtract steps.

        :raises Exhausted: fewer were left.
        """
        self.steps -= steps
        if self.steps < 0:
            self._use_reserve()

    def _use_reserve(self) -> None:
        self.reserve += self.steps
        self.steps = 0
        if self.reserve < 0:
            raise Exhausted
        if self.memo is None:
            self.memo = self.make_memo(self)

    def work_left(self) -> int:
        """Return the steps left, less what the evaluated references cost: entering an attribute takes as long as they."""
        return self.remaining - STEPS_OF_REFERENCE * self.references

    def pay(self, side: AdScope | None, steps: int) -> None:
        """Add steps to those of one side; None is the expression itself, which pays for all that no side pays for."""
        if side is None:
            return
        if side is self.left:
            self.my_steps += steps
        else:
            self.target_steps += steps

    def mark_level_dependent(self) -> None:
        """Record that pending values depend on the number of levels left."""
        if self.memo is not None:
            self.memo.level_dependent += 1

    def mark_random(self) -> None:
        """Record that pending values depend on random numbers."""
        if self.memo is not None:
            self.memo.not_reusable += 1

    def evaluate_argument(self, expr: Node) -> ClassAdValue:
        """Return the value of an expression in the current scope, as functions evaluate their arguments."""
        if type(expr) is Literal:
            return expr.value
        if self.nesting >= MAX_LEVELS:
            raise Exhausted
        self.nesting += 1
        try:
            return self.evaluate(expr)
        finally:
            self.nesting -= 1

    def evaluate_nested(self, scope: AdScope, expr: Node, name: str | None = None) -> ClassAdValue:
        """Return the value of a tree in ``scope`` in a nested evaluation; error if it fails.

        As in HTCondor it has 400 levels of its own, and attributes being evaluated around it are not circular
        references. ``name`` is the attribute whose expression the tree is, if any.
        """
        if self.nesting >= MAX_LEVELS:
            raise Exhausted
        self.charge(_NESTED_STEPS)
        base, epoch, memo = self.base, self.epoch, self.memo
        # A new epoch: no attribute counts as being evaluated, neither in the scopes (``active``) nor in the memo.
        active = 0
        if memo is not None:
            active, memo.active = memo.active, 0
        self.nesting += 1
        self.epochs += 1
        self.base, self.epoch = scope, self.epochs
        try:
            if memo is None or name is None:
                return self.evaluate_in(scope, expr, MAX_LEVELS)
            return memo.evaluate_nested(scope, name, expr, MAX_LEVELS)
        except EvaluationFailed:
            return ERROR
        finally:
            self.base, self.epoch = base, epoch
            self.nesting -= 1
            if self.memo is not None:
                self.memo.active = active

    def evaluate(self, expr: Node) -> ClassAdValue:
        """Return the value of a tree in the current scope, within the budgets."""
        code = self.compile(expr)
        # Direct closures do not charge for their nodes: all are charged at once, before they run.
        self.steps -= code.size
        if self.steps < 0:
            self._use_reserve()
        if self.levels_left < code.guard and self.levels_left < code.levels:
            self.mark_level_dependent()
            return code.counting(self)
        return code.run(self)

    def evaluate_in(self, scope: AdScope, expr: Node, depth: int) -> ClassAdValue:
        """Return the value of a tree in ``scope`` with ``depth`` levels left, and restore the scope and the levels."""
        if type(expr) is ValueNode:
            return expr.value
        current, before = self.current, self.levels_left
        self.current, self.levels_left = scope, depth
        try:
            return self.evaluate(expr)
        finally:
            self.current, self.levels_left = current, before


# 400 levels of the language need more Python frames than the default limit. Evaluation counts its own levels and stays
# far below this limit.
sys.setrecursionlimit(max(sys.getrecursionlimit(), _PYTHON_FRAMES))


class AdScope:
    """An ad during evaluation: its attributes by name in lower case, and the scope around it.

    The expression of an attribute is ``expressions[positions[name]]``. ``alternate`` is where an unscoped name is
    looked up last: the other ad of a match. ``side`` is the one of the two ads that this scope is, or is inside.
    ``active`` has the attributes being evaluated with their epoch; reaching one again in the same epoch is a circular
    reference. ``records`` has the scopes of the records inside, so that a record is one ad however often it is reached.
    """

    __slots__ = (
        "_value",
        "active",
        "ad",
        "alternate",
        "expressions",
        "parent",
        "positions",
        "records",
        "side",
        "state",
    )

    alternate: AdScope | None
    side: AdScope | None

    def __init__(self, ad: AttributeMap, parent: AdScope | None, state: EvaluationState) -> None:
        self.ad = ad
        self.positions: Mapping[str, int] = (
            ad.shape.index
        )  # read directly, since a method call per name is too slow
        self.expressions: Sequence[Node] = ad.expressions
        self.parent = parent
        self.state = state
        self.alternate = None
        self.side = parent.side if parent is not None else None
        self.active: dict[str, int] = {}
        self.records: dict[int, tuple[RecordExpr, AdValue]] | None = None
        self._value: AdValue | None = None

    def value(self) -> AdValue:
        """Return this ad as a value."""
        if self._value is None:
            self._value = AdValue(self.ad, self)
        return self._value

    def record(self, expr: RecordExpr) -> AdValue:
        """Return the value of a record literal in this scope."""
        if self.records is None:
            self.records = {}
        known = self.records.get(id(expr))
        if known is None:
            # The entry has the tree too, so that its id stays in use and cannot become that of another tree.
            known = (expr, AdScope(AttributeMap(expr.items), self._around(), self.state).value())
            self.records[id(expr)] = known
        return known[1]

    def _around(self) -> AdScope | None:
        return self

    def enclosing(self) -> AdScope | None:
        """Return the scope around this one."""
        return self.parent


class NoScope(AdScope):
    """The scope of an expression without an ad: every name is undefined, even ``MY``."""

    __slots__ = ()

    def __init__(self, state: EvaluationState) -> None:
        super().__init__(_EMPTY, None, state)

    def _around(self) -> AdScope | None:
        return None
