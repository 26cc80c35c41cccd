"""Where names are looked up while an expression is evaluated (SEMANTICS section 4), and what one evaluation owns.

The shape is HTCondor's, because what it does in odd places follows from its shape: an evaluation has one *current*
scope; looking a name up moves it to the ad where the name was found (or, where it was not, to the outermost ad), and
an evaluated reference moves it back. ``unresolved``, ``evalInEachContext`` and ``countMatches`` look a name up without
moving back, which is the upstream bug that SEMANTICS records.

In a match the scopes are: each of the two ads, inside a context ad (``my``, ``target``, ``other``, ``ad``), inside
the match ad (``LEFT``, ``RIGHT``, ``lCtx``, ``rCtx``, ``symmetricMatch``, ...). My ad is LEFT.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

import attrs

from negotiator.classad.context.environment import MAX_LEVELS, MAX_STEPS, EvaluationFailed, Exhausted
from negotiator.classad.syntax import AttributeMap, Expr, Literal, RecordExpr
from negotiator.classad.values import ERROR, AbsTime, Exceptional, RelTime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from negotiator.classad.context.environment import Environment

STEPS_BEFORE_MEMO: Final = 10_000
"""Steps after which an evaluation begins to remember values: few evaluations take so many."""


@attrs.frozen(eq=False)
class ListValue:
    """A list, whose elements stay expressions.

    ``L[i]`` evaluates one in ``scope``, where the literal was found; a function evaluates them where it is called.
    """

    items: tuple[Expr, ...]
    scope: AdScope


@attrs.frozen(eq=False)
class AdValue:
    """An ad as a value, with its own scope; what encloses it is the parent of that."""

    ad: AttributeMap
    scope: AdScope


Value: TypeAlias = Exceptional | bool | int | float | str | AbsTime | RelTime | ListValue | AdValue


@attrs.frozen(eq=False)
class ValueNode:
    """A node that no text parses to: an ad or a list that is already a value."""

    value: AdValue | ListValue


Node: TypeAlias = Expr | ValueNode


class Run(Protocol):
    """A compiled tree."""

    def __call__(self, state: EvaluationState, /) -> Value:
        """Return the value of the tree in the current scope; raises ``EvaluationFailed``."""


class Compiled(NamedTuple):
    """A tree ready to run.

    ``run`` may be called where ``levels`` levels are left, otherwise ``careful``, which counts them. ``guard`` is
    ``levels`` or more: fewer left than that, and the caller looks closer. ``size`` is the number of nodes.
    """

    expr: Node
    run: Run
    careful: Run
    levels: int
    guard: int
    size: int


class Memory(Protocol):
    """What a long evaluation remembers (see ``memo``), as the state and the look-up use it."""

    active: int
    once: int
    limited: int

    def follow(self, scope: AdScope, name: str, expr: Node, since: int | None) -> Value:
        """Return the value of an attribute that is reached by a reference."""

    def afresh(self, scope: AdScope, name: str, expr: Node, depth: int) -> Value:
        """Return the value of an attribute in a new evaluation inside this one."""

    def circle(self, scope: AdScope, name: str) -> None:
        """Note that an attribute was reached which is being evaluated."""


class EvaluationState:
    """What one evaluation owns: where it stands and how much it may still do.

    ``current`` is the scope it stands in, ``base`` the one it began in, ``left`` my ad's in a match. ``depth``,
    ``steps`` and, after these, ``reserve`` are what is left; ``nesting`` counts functions that evaluate elements inside
    each other, which HTCondor does not bound (it crashes); ``epoch`` numbers the evaluations that begin afresh inside
    this one. ``contexts`` are the scopes that have another ad to fall back to just now.

    As soon as it draws on the reserve it has a ``memo``. There are no steps at hand then, so that each attribute
    that is followed comes by there.
    """

    __slots__ = (
        "base",
        "compile",
        "contexts",
        "current",
        "depth",
        "env",
        "epoch",
        "epochs",
        "left",
        "memo",
        "nesting",
        "remember",
        "reserve",
        "steps",
    )

    current: AdScope
    base: AdScope
    left: AdScope

    def __init__(
        self,
        env: Environment,
        compile_node: Callable[[Node], Compiled],
        remember: Callable[[EvaluationState], Memory],
    ) -> None:
        self.env = env
        self.compile = compile_node
        self.remember = remember
        self.depth = MAX_LEVELS
        self.steps = STEPS_BEFORE_MEMO
        self.reserve = MAX_STEPS - STEPS_BEFORE_MEMO
        self.nesting = 0
        self.epoch = self.epochs = 1
        self.contexts = _NO_CONTEXTS
        self.memo: Memory | None = None

    @property
    def remaining(self) -> int:
        """The steps that are left; below 0 where more were wanted."""
        return self.steps + self.reserve

    def grant(self, steps: int) -> int:
        """Let the evaluation, which has not begun, take no more steps than these; return how many it has then."""
        granted = min(self.remaining, steps)
        self.steps = min(self.steps, granted)
        self.reserve = granted - self.steps
        return granted

    def forget(self) -> None:
        """Let the evaluation, which has not begun, remember nothing, so that each attribute is seen to be followed."""
        self.steps, self.reserve = self.remaining, 0

    def charge(self, steps: int) -> None:
        """Take steps off what is left. Raises ``Exhausted``."""
        self.steps -= steps
        if self.steps < 0:
            self._draw()

    def _draw(self) -> None:
        self.reserve += self.steps
        self.steps = 0
        if self.reserve < 0:
            raise Exhausted
        if self.memo is None:
            self.memo = self.remember(self)

    def limited(self) -> None:
        """Note that what comes of this depends on how many levels are left."""
        if self.memo is not None:
            self.memo.limited += 1

    def drawn(self) -> None:
        """Note that what comes of this is chance."""
        if self.memo is not None:
            self.memo.once += 1

    def value(self, expr: Node) -> Value:
        """Return the value of an expression where the evaluation stands: what a function does with an argument."""
        if type(expr) is Literal:
            return expr.value
        if self.nesting >= MAX_LEVELS:
            raise Exhausted
        self.nesting += 1
        try:
            return self.start(expr)
        finally:
            self.nesting -= 1

    def afresh(self, scope: AdScope, expr: Node, name: str | None = None) -> Value:
        """Return the value of a tree in ``scope`` where HTCondor begins a new evaluation inside this one.

        It has 400 levels of its own and does not know what is being evaluated around it; if it fails that is an error.
        ``name`` is the attribute that the tree is the expression of, if it is one.
        """
        if self.nesting >= MAX_LEVELS:
            raise Exhausted
        self.charge(_STEPS_AFRESH)
        base, epoch, memo = self.base, self.epoch, self.memo
        active = 0
        if memo is not None:
            active, memo.active = memo.active, 0
        self.nesting += 1
        self.epochs += 1
        self.base, self.epoch = scope, self.epochs
        try:
            if memo is None or name is None:
                return self.start_in(scope, expr, MAX_LEVELS)
            return memo.afresh(scope, name, expr, MAX_LEVELS)
        except EvaluationFailed:
            return ERROR
        finally:
            self.base, self.epoch = base, epoch
            self.nesting -= 1
            if self.memo is not None:
                self.memo.active = active

    def start(self, expr: Node) -> Value:
        """Return the value of a tree in the current scope, within the levels and steps that are left."""
        code = self.compile(expr)
        self.steps -= code.size
        if self.steps < 0:
            self._draw()
        if self.depth < code.guard and self.depth < code.levels:
            self.limited()
            return code.careful(self)
        return code.run(self)

    def start_in(self, scope: AdScope, expr: Node, depth: int) -> Value:
        """Return the value of a tree in ``scope`` with ``depth`` levels left; then everything is as it was."""
        if type(expr) is ValueNode:
            return expr.value
        current, before = self.current, self.depth
        self.current, self.depth = scope, depth
        try:
            return self.start(expr)
        finally:
            self.current, self.depth = current, before


_NO_CONTEXTS: Final[frozenset[AdScope]] = frozenset()
_STEPS_AFRESH: Final = 40
_PYTHON_FRAMES: Final = 20_000

# 400 levels of the language need more frames than Python allows by default. It is set once, on import: evaluation
# itself counts its levels and never comes near.
sys.setrecursionlimit(max(sys.getrecursionlimit(), _PYTHON_FRAMES))


class AdScope:
    """An ad in its place: its attributes by name in lower case, and the scope around it.

    The expression of an attribute is ``expressions[places[name]]``. ``alternate`` is where an unscoped name is looked
    for last (the other ad of a match); ``side`` is the one of the two ads that this scope is or lies in. ``active``
    holds the names being evaluated, and since which epoch: reaching one again in the same is a circle.
    ``nested`` keeps the records inside, so that each is one ad however often it is reached.
    """

    __slots__ = (
        "_value",
        "active",
        "ad",
        "alternate",
        "expressions",
        "nested",
        "parent",
        "places",
        "side",
        "state",
    )

    alternate: AdScope | None
    side: AdScope | None

    def __init__(self, ad: AttributeMap, parent: AdScope | None, state: EvaluationState) -> None:
        self.ad = ad
        self.places: Mapping[str, int] = ad.shape.index  # a method call per name would cost too much
        self.expressions: Sequence[Node] = ad.expressions
        self.parent = parent
        self.state = state
        self.alternate = None
        self.side = parent.side if parent is not None else None
        self.active: dict[str, int] = {}
        self.nested: dict[int, tuple[RecordExpr, AdValue]] | None = None
        self._value: AdValue | None = None

    def value(self) -> AdValue:
        """Return this ad as a value."""
        if self._value is None:
            self._value = AdValue(self.ad, self)
        return self._value

    def record(self, expr: RecordExpr) -> AdValue:
        """Return the value of a record written in this scope."""
        if self.nested is None:
            self.nested = {}
        known = self.nested.get(id(expr))
        if known is None:
            known = (expr, AdScope(AttributeMap(expr.items), self._around(), self.state).value())
            self.nested[id(expr)] = known
        return known[1]

    def _around(self) -> AdScope | None:
        return self

    def enclosing(self) -> AdScope | None:
        """Return the scope around this one."""
        return self.parent


class NoScope(AdScope):
    """Where an expression stands that belongs to no ad: no name means anything, not even ``MY``."""

    __slots__ = ()

    def __init__(self, state: EvaluationState) -> None:
        super().__init__(_EMPTY, None, state)

    def _around(self) -> AdScope | None:
        return None


_EMPTY: Final = AttributeMap()
