"""Ads, and the evaluation of an expression for one of them or a pair (SEMANTICS sections 2 to 5).

An expression of the administrator on the job ad alone, such as the resources a job requests, is a ``JobExpression``. Users
write job ads: its value must not depend on the slot, or a job could request more on a slot than was charged to its limits.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from negotiator.classad.context import (
    STEPS_OF_REFERENCE,
    Allowance,
    ClassAdValue,
    Environment,
    EvaluationFailed,
    EvaluationState,
    Exhausted,
    Memo,
    enter_ads,
)
from negotiator.classad.scalar.compiler import compiled
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    AttributeMap,
    Expr,
    Literal,
    Side,
    bind,
    parse_record,
    references,
)
from negotiator.classad.values import ERROR, UNDEFINED

MAX_STEPS_PAID: Final = 100_000
"""Steps of one evaluation that is charged to somebody; beyond it the value is error."""

STEPS_TO_BEGIN: Final = 100
"""Steps that are charged for each evaluation, however short: making its scopes takes as long."""

#: The names of the two ads. An attribute with such a name would hide the ad.
_SCOPES = ("my", "target")

#: Attributes a job gets only when it runs. The requests that condor_submit writes refer to them; free slots lack them.
_LATER = frozenset({"memoryusage", "diskusage", "imagesize", "residentsetsize"})


class Paying(NamedTuple):
    """The allowances that one evaluation is charged to: of the expression itself, and of the attributes of each ad."""

    expression: Allowance
    my: Allowance
    target: Allowance

    @property
    def most(self) -> int:
        """The steps that all of them have left, at most ``MAX_STEPS_PAID``."""
        return min(self.expression.steps, self.my.steps, self.target.steps, MAX_STEPS_PAID)


def evaluate(
    expr: Expr,
    my: AttributeMap | None = None,
    target: AttributeMap | None = None,
    env: Environment | None = None,
    allowance: Allowance | None = None,
) -> ClassAdValue:
    """Return the value of ``expr`` in ``my``, matched with ``target`` if given.

    Never raises: where HTCondor gives up (more than 400 levels) or would crash, and beyond 10,000,000 steps, the value
    is error. The elements of a returned list and the attributes of a returned ad are still expressions. An environment
    with payers charges both ads to the owner of ``my``.

    :param allowance: a budget of steps shared with other evaluations.
    """
    value = evaluate_part(expr, my, target, env, allowance)
    return ERROR if value is None else value


def evaluate_part(
    expr: Expr,
    my: AttributeMap | None = None,
    target: AttributeMap | None = None,
    env: Environment | None = None,
    allowance: Allowance | None = None,
) -> ClassAdValue | None:
    """Return the value of ``expr`` like ``evaluate``, but None if HTCondor gives up.

    Then not only this value is an error: if the expression is a part of another one, the value of that one is.
    """
    env = env or Environment()
    if allowance is None and env.payers is not None:
        owner = env.payers.of_single(my)
        return evaluate_paid(expr, my, target, env, Paying(env.payers.expression or owner, owner, owner))
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, my, target)
    granted = 0 if allowance is None else state.limit_steps(allowance.steps)
    try:
        return _value(state, expr)
    finally:
        if allowance is not None:
            allowance.steps -= granted - max(state.remaining, 0)


def evaluate_paid(
    expr: Expr,
    my: AttributeMap | None,
    target: AttributeMap | None,
    env: Environment,
    paying: Paying,
) -> ClassAdValue | None:
    """Return the value of ``expr`` like ``evaluate_part``, within the steps that all who pay have left.

    Each ad pays for the steps of its own attributes, ``paying.expression`` for all others. If one has none left, the value
    is error.
    """
    if paying.most <= 0:
        return ERROR
    state = EvaluationState(env, compiled, Memo)
    enter_ads(state, my, target)
    granted = state.limit_steps(paying.most)
    try:
        return _value(state, expr)
    finally:
        spent = granted - max(state.remaining, 0) + STEPS_OF_REFERENCE * state.references + STEPS_TO_BEGIN
        paying.my.steps -= state.my_steps
        paying.target.steps -= state.target_steps
        paying.expression.steps -= spent - state.my_steps - state.target_steps


def _value(state: EvaluationState, expr: Expr) -> ClassAdValue | None:
    try:
        return state.evaluate(expr)
    except EvaluationFailed:
        return None
    except (Exhausted, RecursionError, MemoryError):
        return ERROR


def is_true(value: ClassAdValue) -> bool:
    """True if a value of Requirements allows a match: true, or a number other than 0 (NaN included)."""
    kind = type(value)
    return value is True or ((kind is int or kind is float) and value != 0)


class Ad(AttributeMap):
    """An ad: an immutable, ordered mapping of attribute names to expressions, which it can evaluate.

    See ``AttributeMap`` for the mapping. ``string``, ``integer``, ``real`` and ``boolean`` evaluate in this ad alone.
    """

    __slots__ = ()

    def evaluate(self, name: str, target: Ad | None = None, env: Environment | None = None) -> ClassAdValue:
        """Return the value of an attribute, matched with ``target`` if given; UNDEFINED if it is missing."""
        expr = self.get(name)
        if expr is None:
            return UNDEFINED
        if isinstance(expr, Literal):
            return expr.value
        return evaluate(expr, self, target, env)

    def string(self, name: str, default: str | None = None) -> str | None:
        """Return the value of an attribute if it is a string, otherwise ``default``."""
        value = self.evaluate(name)
        return value if isinstance(value, str) else default

    def integer(self, name: str, default: int | None = None) -> int | None:
        """Return the value of an attribute if it is an integer, otherwise ``default``."""
        value = self.evaluate(name)
        return value if type(value) is int else default

    def real(self, name: str, default: float | None = None) -> float | None:
        """Return the value of an attribute as a float if it is a real or an integer, otherwise ``default``."""
        value = self.evaluate(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return default
        return float(value)

    def boolean(self, name: str, default: bool | None = None) -> bool | None:  # noqa: FBT001
        """Return the value of an attribute if it is a boolean, otherwise ``default``."""
        value = self.evaluate(name)
        return value if isinstance(value, bool) else default


def parse_ad(text: str) -> Ad:
    """Parse an ad in the new syntax, ``[ a = 1; b = 2 ]``.

    :raises ParseError: the text is invalid.
    """
    return Ad(parse_record(text).items)


class JobExpression:
    """An expression on the job ad.

    :param tree: the administrator's expression. Usually it is an attribute, and the attribute a constant; then nothing
        is evaluated.
    """

    def __init__(self, tree: Expr) -> None:
        self.tree = tree = bind(tree)  # MY is the job's ad itself, also if it has an attribute MY
        of_job = isinstance(tree, Attr) and tree.scope == AdRef(Side.MY)
        read = references(tree)
        #: The attributes it refers to, in lower case.
        self.names = frozenset(name.lower() for name in (*read.my, *read.unscoped))
        self._name = tree.name.lower() if of_job and isinstance(tree, Attr) and tree.name.isascii() else None

    def value(self, job: Ad, env: Environment, slot_attributes: Collection[str] = ()) -> ClassAdValue:
        """Return the value for one job; UNDEFINED if the job lacks the attribute.

        :param slot_attributes: the attributes that slots have, in lower case.
        :raises ValueError: the value depends on the slot, or on an attribute that hides an ad.
        """
        if self._name is not None:
            found = job.folded(self._name)
            if found is None:
                return UNDEFINED
            if isinstance(found, Literal):
                return found.value
        self._check(job, slot_attributes)
        return evaluate(self.tree, job, None, env)

    def _check(self, job: Ad, slot_attributes: Collection[str]) -> None:
        waiting, seen = sorted(self.names), set(self.names)
        while waiting:
            name = waiting.pop()
            expression = job.folded(name)
            if expression is None or isinstance(expression, Literal):
                continue
            for scope in _SCOPES:
                if job.folded(scope) is not None:
                    raise ValueError(f"the job has an attribute called {scope.upper()}: rename it")
            read = references(expression)
            shared_names = (name for name in read.unscoped - _LATER if name in slot_attributes)
            missing = (name for name in shared_names if job.folded(name) is None)
            if read.target or read.dynamic or any(missing):
                raise ValueError(f"{name} depends on the slot: write a value")
            fresh = (read.my | read.unscoped) - seen
            seen |= fresh
            waiting += sorted(fresh)
