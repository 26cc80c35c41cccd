"""What quotas need to know of a job: who submitted it, and the resources that it requests.

The request for a complex is the attribute ``RequestNAME`` unless ``gridengine.yaml`` names another expression. An invalid value is
treated as not requested, so that a running job still counts; the problem is reported, so that no idle job is matched.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import attrs

from negotiator.plugin import (
    UNDEFINED,
    Expr,
    JobExpression,
    parse,
    unparse_value,
)
from negotiator_quotasets.complexes import (
    LARGEST,
    SLOTS,
    Complex,
    InvalidValueError,
    charged_units,
    parse_number,
    parse_value,
    satisfies,
)
from negotiator_quotasets.language import RuleSet
from negotiator_quotasets.settings import QuotaSettings

if TYPE_CHECKING:
    from negotiator.plugin import Ad, ClassAdValue, Environment, Request
T = TypeVar("T")
#: The values of hosts that have other names in slot ads.
_HOST_VALUES = {
    "num_proc": parse("MY.num_proc ?: MY.TotalCpus ?: MY.DetectedCpus ?: MY.Cpus"),
    "hostname": parse("MY.Machine"),
}
_MAX_NAME = 200  # characters of names in job ads: they become parts of reasons and counters


class Claimant(NamedTuple):
    """The user, project, parallel environment and queue of a job: jobs of one claimant are under the same rules.

    None means no project, or no parallel environment.
    """

    user: str
    groups: tuple[str, ...] = ()
    project: str | None = None
    pe: str | None = None
    queue: str = ""


@attrs.frozen
class RequestedResources:
    """The resources that a job requests, by full names of complexes.

    ``amounts`` are those of consumables, in units of the counter; ``values`` are the texts of all others. A consumable
    that is not requested and has a default of 0 is in neither; one that is requested with 0 has the amount 0.
    """

    amounts: Mapping[str, int]
    values: Mapping[str, str]


def requested_resources(
    complexes: Iterable[Complex], requested: Mapping[str, str | Fraction], slots: int
) -> RequestedResources:
    """Convert the requests of a job.

    :param requested: by full name; the number of slots is not in it.
    :param slots: of the whole job.
    :raises InvalidValueError: invalid value of a consumable; the message names the complex.
    """
    amounts, values = {}, {}
    for each in complexes:
        value = requested.get(each.name)
        if not each.is_consumable:
            if value is not None:
                values[each.name] = str(value)
        elif each.name == SLOTS:
            amounts[each.name] = slots
        elif value is not None:
            amounts[each.name] = charged_units(each, _number(each, value), slots)
        elif default := parse_number(each.type, each.default):
            amounts[each.name] = charged_units(each, default, slots)
    return RequestedResources(amounts, values)


def _number(complex_: Complex, value: str | Fraction) -> Fraction:
    number = parse_value(complex_, value) if isinstance(value, str) else value
    if number is None or number < 0:
        raise InvalidValueError(f"invalid amount {complex_.name}={value}")
    return number


class EvaluationContext(NamedTuple):
    """The environment of expressions, and the attributes of slots in lower case, which no job may define instead."""

    env: Environment
    slot_attributes: frozenset[str] = frozenset()


class QuotaRequest(NamedTuple):
    """A request as the rules see it; ``problems`` are the reasons why it is invalid, empty if it is valid."""

    claimant: Claimant
    resources: RequestedResources
    by_job: Mapping[str, object]  # the requests of the job itself, without defaults
    problems: str


class _Invalid(NamedTuple):
    """The place of a value that could not be evaluated."""

    reason: str


class RequestValues(NamedTuple):
    """All that is read of a request: its user, groups and queue, and the values of the expressions."""

    user: str
    groups: tuple[str, ...]
    queue: str
    values: tuple[ClassAdValue | _Invalid, ...]

    @property
    def key(self) -> Hashable:
        """A key that is equal for equal requests; unhashable if a value is a list or an ad."""
        return (*self, *map(type, self.values))  # 1, 1.0 and true compare equal


class RequestReader:
    """The complexes of a bundle that matter, and the expressions that read them from jobs and slots."""

    def __init__(self, settings: QuotaSettings, sets: Sequence[RuleSet] | None = None) -> None:
        """Read what some sets limit, by default all, and the declared complexes."""
        sets = settings.sets if sets is None else sets
        engine = settings.gridengine
        declared = {each.name: each for each in engine.complexes}
        limits = [limit for each in sets for rule in each.rules for limit in rule.limits]
        offered = set(engine.of_pool).union(*engine.of_hosts.values(), *engine.of_queues.values())
        relevant = {*declared, *(limit.resource for limit in limits), *offered}
        self.active = bool(sets or offered)
        self.complexes: tuple[Complex, ...] = tuple(
            each for each in engine.all_complexes if each.name in relevant
        )
        self.formula_complexes = {term.complex for limit in limits for term in limit.terms if term.complex}
        requests = {name: each.request.tree for name, each in declared.items() if each.request}
        self._requestable = [each for each in self.complexes if each.name != SLOTS]
        self._expressions = [
            JobExpression(engine.job.project.tree),
            JobExpression(engine.job.pe.tree),
            JobExpression(engine.job.slots.tree),
            *(
                JobExpression(requests.get(each.name) or _attribute(f"Request{each.name}"))
                for each in self._requestable
            ),
        ]
        self._host_values = {name: each.value.tree for name, each in declared.items() if each.value}

    def attributes(self) -> frozenset[str]:
        """Return the attributes of jobs that are read, in lower case."""
        if not self.active:
            return frozenset()
        return frozenset({"owner"}).union(*(each.names for each in self._expressions))

    def values(self, request: Request, context: EvaluationContext) -> RequestValues:
        """Evaluate all that is read of a request."""
        user = request.user or request.ad.string("Owner") or ""  # no user where jobs are not placed in queues
        values = [_evaluated(each, request.ad, context) for each in self._expressions]
        return RequestValues(user, request.groups, request.queue, tuple(values))

    def interpret(self, read: RequestValues) -> QuotaRequest:
        """Convert the values of a request to its claimant and its resources."""
        problems: list[str] = []
        project, pe, slots, *requests = read.values
        by_job: dict[str, str | Fraction] = {}
        for complex_, value in zip(self._requestable, requests, strict=True):
            requested = _checked(problems, None, partial(_requested, complex_), value)
            if requested is not None:
                by_job[complex_.name] = requested
        claimant = Claimant(
            _checked(problems, None, partial(_name, "user"), read.user) or "",
            read.groups,
            _checked(problems, None, partial(_name, "project"), project),
            _checked(problems, None, partial(_name, "parallel environment"), pe),
            read.queue,
        )
        resources = requested_resources(self.complexes, by_job, _checked(problems, 1, _slots, slots))
        return QuotaRequest(claimant, resources, by_job, "; ".join(problems))

    def host_value(self, name: str) -> Expr:
        """Return the expression for a complex's value on a host, of the ad of one of its slots."""
        return self._host_values.get(name) or _HOST_VALUES.get(name) or _attribute(name)


def _evaluated(expression: JobExpression, job: Ad, context: EvaluationContext) -> ClassAdValue | _Invalid:
    try:
        return expression.value(job, *context)
    except ValueError as error:
        return _Invalid(str(error))


def _checked(
    problems: list[str], default: T, convert: Callable[[ClassAdValue], T], value: ClassAdValue | _Invalid
) -> T:
    """Return a converted value, or the default after adding the reason to ``problems``."""
    if isinstance(value, _Invalid):
        problems.append(value.reason)
        return default
    try:
        return convert(value)
    except ValueError as error:
        problems.append(str(error) or "invalid value")
        return default


def _name(what: str, value: ClassAdValue) -> str | None:
    """Return a name in an ad; None if it is missing or empty."""
    if value is UNDEFINED:
        return None
    text = text_of(value)
    if text is None or len(text) > _MAX_NAME or not text.isprintable():
        raise ValueError(f"invalid {what}: write a name of up to {_MAX_NAME} printable characters")
    return text or None


def _requested(complex_: Complex, value: ClassAdValue) -> str | Fraction | None:
    """Return a job's request for a complex: a number of a consumable, else a text; None if it is missing."""
    if value is UNDEFINED:
        return None
    if complex_.is_consumable and not isinstance(value, bool | str):
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"{complex_.name} is {unparse_value(value)[:80]}: write a number")
        if value < 0:
            raise ValueError(f"{complex_.name} is {value}: the least is 0")
        return Fraction(repr(value))  # the decimal as it was written: 0.1 is exactly a tenth
    text = text_of(value)
    if text is None:
        raise ValueError(f"{complex_.name} is {unparse_value(value)[:80]}: write a text or a number")
    satisfies(complex_, text, text)  # raises if it is an invalid value
    return text


def _slots(value: ClassAdValue) -> int:
    """Return the number of slots of a job, at least 1."""
    if value is UNDEFINED:
        return 1
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("the number of slots must be a number")
    return min(LARGEST, max(1, math.ceil(value)))


def text_of(value: ClassAdValue) -> str | None:
    """Return a value as Grid Engine writes it; None if it has no such value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value) if isinstance(value, int | str) else None


def _attribute(name: str) -> Expr:
    quoted = name.replace("\\", "\\\\").replace("'", "\\'")
    return parse(f"MY.'{quoted}'")
