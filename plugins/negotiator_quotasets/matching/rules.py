"""The rules that apply to a claimant, host by host, and their charges.

Source: "Resource Quota Sets": in each enabled set, the first rule whose filters match applies, whichever complexes it
limits; the search in that set ends there.

Work is shared in two steps. Rules of a set whose user, project, parallel environment or queue filters do not match a
claimant are dropped first. The choice among the remaining rules differs from host to host. It depends on these rules
alone, so it is computed once for all claimants with the same ones, and held in a cache of bounded size.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Generic, ParamSpec, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Charge, CounterKey, Family, Grouping, Ints, Mask, Mode, Quota, printable
from negotiator_quotasets.complexes import (
    Complex,
    Complexes,
    limit_units,
    parse_number,
    queue_matches,
    satisfies,
    units_of,
)
from negotiator_quotasets.language import NameFilter, QuotaRule, RuleLimit, RuleSet, evaluate_formula
from negotiator_quotasets.matching.names import Hosts, filter_matches, joined, user_filter_matches
from negotiator_quotasets.requests import Claimant, RequestedResources

Codes = NDArray[np.int32]
T = TypeVar("T")
P = ParamSpec("P")
CODE = "resource_quota"
# Bounds of the caches. Each claimant has counters in the ledger, up to one per host; columns have a number per slot.
_MAX_CLAIMANTS, _MAX_COUNTERS, _MAX_NUMBERS = 20_000, 1 << 24, 1 << 26
_MIN_ENTRIES = 64
_MAX_LABEL = 200  # characters of a rule's label in reasons: names may be longer


@attrs.frozen(eq=False)
class HostIndex:
    """The hosts of a pool, H of them, and the host of each of its N slots.

    ``codes`` (N,) is the row of each slot's host in ``hosts``. ``values`` maps a numeric complex to its value on each
    host, (H,), None where a host has none.
    """

    hosts: Hosts
    codes: Codes
    values: Mapping[str, Sequence[Fraction | None]] = attrs.field(factory=dict)

    def __len__(self) -> int:
        return len(self.hosts)

    def values_of(self, host: int) -> Mapping[str, Fraction | None]:
        """Return the numeric values of one host, which formulas are computed from."""
        return {name: column[host] for name, column in self.values.items()}


class BoundedCache(Generic[T]):
    """Computed values by key; the oldest is dropped first. Bounded because users choose the contents of job ads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the value of a key, computed if it is missing."""
        value = self._values.get(key)
        if value is None:
            if len(self._values) >= self._size:
                self._values.popitem(last=False)
            self._values[key] = value = compute(*args, **kwargs)
        return value


@attrs.frozen(eq=False)
class RuleCharge:
    """A limit of a consumable: its counter, or one per host, and the limit in units of the counter."""

    complex: Complex
    counter: CounterKey | Grouping
    limit: int | Ints
    quota: Quota


@attrs.frozen(eq=False)
class RuleConstraint:
    """A limit of a complex that is not consumed; nothing is charged.

    ``where`` (N,) are the slots to which the rule applies, None for all. ``counter`` names the values of expanded
    filters.
    """

    complex: Complex
    limit: str
    where: Mask | None
    counter: CounterKey | Grouping
    quota: Quota

    def text(self) -> str:
        """Return the reason for a request above the limit; of several counters the first, and how many more."""
        if not isinstance(self.counter, Grouping):
            return self.quota.text
        codes = np.unique(self.counter.codes[self.counter.codes >= 0])
        key, more = self.counter.keys[int(codes[0])], len(codes) - 1
        return f"{self.quota.text}{key[-1]}{self.quota.text_after}{f' and {more} more' if more else ''}"


@attrs.frozen(eq=False)
class ClaimantRules:
    """All limits that apply to a claimant, in the order of the sets."""

    rule_charges: tuple[RuleCharge, ...]
    constraints: tuple[RuleConstraint, ...]

    def charges(self, requested: RequestedResources) -> Iterator[Charge]:
        """Yield the charges of a job. A request of 0 is compared with the limit too, and denied if that is exceeded."""
        for each in self.rule_charges:
            amount = requested.amounts.get(each.complex.name)
            if amount is not None:
                yield Charge(each.counter, amount, each.limit, each.quota, probes=not amount)

    def violated(self, requested: RequestedResources) -> Iterator[RuleConstraint]:
        """Yield the constraints that a request does not satisfy."""
        for each in self.constraints:
            value = requested.values.get(each.complex.name)
            if value is not None and not satisfies(each.complex, value, each.limit):
                yield each


@attrs.frozen(eq=False)
class _RuleRows:
    """The rows to which a rule applies: ``hosts`` (H,) and ``slots`` (N,), each None for all."""

    rule: int
    hosts: Mask | None
    slots: Mask | None


class Rules:
    """The enabled sets of one mode over the hosts of a pool."""

    def __init__(
        self,
        sets: Sequence[RuleSet],
        complexes: Complexes,
        usersets: Mapping[str, Sequence[str]],
        index: HostIndex,
        mode: Mode = Mode.ENFORCE,
    ) -> None:
        self._mode = mode
        self._sets = [each for each in sets if each.enabled]
        self._complexes, self._index = complexes, index
        self._usersets = {name: frozenset(members) for name, members in usersets.items()}
        slots = len(index.codes) + 1
        claimants = min(_MAX_CLAIMANTS, max(_MIN_ENTRIES, _MAX_COUNTERS // slots))
        columns = max(_MIN_ENTRIES, _MAX_NUMBERS // slots)
        self._claimants = BoundedCache[ClaimantRules](claimants)
        self._rule_rows = BoundedCache[tuple[_RuleRows, ...]](columns)
        self._groupings = BoundedCache[Grouping](columns)
        self._limits: dict[int, Ints] = {}

    def for_claimant(self, claimant: Claimant) -> ClaimantRules:
        """Return the limits that apply to a claimant."""
        return self._claimants.get(claimant, self._for_claimant, claimant)

    def _for_claimant(self, claimant: Claimant) -> ClaimantRules:
        rule_charges: list[RuleCharge] = []
        constraints: list[RuleConstraint] = []
        for number, set_ in enumerate(self._sets):
            # A decision table for the set: the rules that are left select its column, the host selects the row.
            left = tuple(place for place, rule in enumerate(set_.rules) if self._may_apply(rule, claimant))
            cache_key = (number, left)
            for rows in self._rule_rows.get(cache_key, self._first_matching, set_, left):
                label, rule = set_.label(rows.rule), set_.rules[rows.rule]
                for limit in rule.limits:
                    complex_ = self._complexes.find(limit.resource)
                    if complex_ is None:
                        continue  # an error of the bundle, reported there
                    prefix = _key_prefix(label, limit, rule, claimant)
                    counter = self._counter(rule, prefix, rows, cache_key)
                    quota = _quota(label, rule, complex_, prefix, counter, self._mode)
                    if complex_.is_consumable:
                        rule_charges.append(
                            RuleCharge(complex_, counter, self._limit(limit, complex_), quota)
                        )
                    else:
                        constraints.append(RuleConstraint(complex_, limit.text, rows.slots, counter, quota))
        return ClaimantRules(tuple(rule_charges), tuple(constraints))

    def _may_apply(self, rule: QuotaRule, claimant: Claimant) -> bool:
        """True if all filters but that of hosts match."""
        return (
            user_filter_matches(rule.users, claimant.user, claimant.groups, self._usersets)
            and filter_matches(rule.projects, claimant.project)
            and filter_matches(rule.pes, claimant.pe)
            and filter_matches(rule.queues, claimant.queue, queue_matches)
        )

    def _first_matching(self, set_: RuleSet, left: Sequence[int]) -> tuple[_RuleRows, ...]:
        return tuple(self._find_first(set_, left))

    def _find_first(self, set_: RuleSet, left: Sequence[int]) -> Iterator[_RuleRows]:
        """Yield the first matching rule of each host, rule by rule."""
        free: Mask | None = None  # the hosts without a rule so far; None for all
        for number in left:
            # A rule without a filter of hosts takes all that are free, so that no later rule can apply.
            wanted = set_.rules[number].hosts
            if wanted is None:
                yield self._rows(number, free)
                return
            matching = self._index.hosts.mask(wanted)
            # A host that an earlier rule matched stays with that rule, also if that one limits other complexes.
            rows = matching if free is None else matching & free
            if rows.any():
                yield self._rows(number, None if rows.all() else rows)
            free = ~matching if free is None else free & ~matching
            if not free.any():
                return

    def _rows(self, rule: int, hosts: Mask | None) -> _RuleRows:
        return _RuleRows(rule, hosts, None if hosts is None else hosts[self._index.codes])

    def _counter(
        self, rule: QuotaRule, prefix: CounterKey, rows: _RuleRows, cache_key: Hashable
    ) -> CounterKey | Grouping:
        """Return the counter of a rule for a claimant, or one per host if the hosts are expanded.

        A rule that does not apply to all hosts needs a grouping too: its other slots are not charged.
        """
        if not rule.per_host and rows.slots is None:
            return (*prefix, "")
        grouping = self._groupings.get((cache_key, rows.rule), self._grouping, rows, rule)
        return grouping.with_prefix(prefix)

    def _grouping(self, rows: _RuleRows, rule: QuotaRule) -> Grouping:
        """Return the counters of a rule for any claimant: the slots where it does not apply are not charged."""
        # By host first, then spread to the slots: a host has many slots, all with the same counter.
        codes = np.arange(len(self._index)) if rule.per_host else np.zeros(len(self._index), np.intp)
        if rows.hosts is not None:
            codes = np.where(rows.hosts, codes, -1)
        names = self._index.hosts.names if rule.per_host else ("",)
        return Grouping(codes.astype(np.int32)[self._index.codes], Family((), names))

    def _limit(self, limit: RuleLimit, complex_: Complex) -> int | Ints:
        """Return a limit in units of the counter: one number, or (N,) for a formula.

        A formula is 0 on a host without a value that it needs.
        """
        if not limit.terms:
            value = parse_number(complex_.type, limit.text) if limit.value is None else limit.value
            return limit_units(complex_, value)
        if id(limit) not in self._limits:  # ids stay unique: the sets hold their limits
            values = (
                evaluate_formula(limit.terms, complex_.type, self._index.values_of(host)) or Fraction(0)
                for host in range(len(self._index))
            )
            by_host = np.array([limit_units(complex_, value) for value in values], np.int64)
            self._limits[id(limit)] = by_host[self._index.codes]
        return self._limits[id(limit)]


def _key_prefix(label: str, limit: RuleLimit, rule: QuotaRule, claimant: Claimant) -> CounterKey:
    """Return all of a counter's key but the host: the values of filters that are not expanded are empty."""
    # An expanded filter, {...}, has a counter for each value; any other has one for all values that it matches.
    scopes: tuple[tuple[NameFilter | None, str], ...] = (
        (rule.users, claimant.user),
        (rule.projects, claimant.project or ""),
        (rule.pes, claimant.pe or ""),
        (rule.queues, claimant.queue.removeprefix("root.")),
    )
    values = (value if wanted is not None and wanted.expanded else "" for wanted, value in scopes)
    return (label, limit.resource, *values)


def _quota(
    label: str,
    rule: QuotaRule,
    complex_: Complex,
    prefix: CounterKey,
    counter: CounterKey | Grouping,
    mode: Mode,
) -> Quota:
    """Return the reason for a charge that does not fit, as ``qstat -j`` words it."""
    label = label[:_MAX_LABEL]
    begin = printable(f'cannot run because it exceeds limit "{joined(prefix[2:])}')
    end = f'/" in rule "{label}"'
    several = isinstance(counter, Grouping)
    scopes = zip(("user", "project", "pe", "queue"), prefix[2:], strict=True)
    subject = [f"{scope} {value}" for scope, value in scopes if value]
    if rule.per_host:
        subject.append("host")  # whose name is the last part of the key
    return Quota(
        rule=label,
        text=begin if several else f"{begin}{end}",
        text_after=end if several else None,
        subject=printable(" ".join(subject)) or "all jobs of the rule",
        resource=complex_.name,
        code=CODE,
        scale=units_of(complex_),
        source=rule.source,
        mode=mode,
    )
