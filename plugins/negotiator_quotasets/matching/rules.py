"""Which rule of each set counts where, and what it charges: the rules of all sets, made ready for one pool.

Source: "Resource Quota Sets": the first rule of a set whose filters match counts, whatever it limits; all enabled sets
apply. Of a set's rules those whose users, projects, parallel environments and queues do not fit are left out at once;
what is left differs from host to host, and is worked out once for all jobs that it is left for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

import attrs
import numpy as np

from negotiator.plugin import Charge, CounterKey, Family, Grouping, Ints, Mask, Quota, printable
from negotiator_quotasets.complexes import Complex, Complexes, limit_units, parse_number, satisfies, units_of
from negotiator_quotasets.language import QuotaRule, RuleLimit, RuleSet, value_at
from negotiator_quotasets.matching.bounded_cache import BoundedCache
from negotiator_quotasets.matching.host_queue_index import Codes, HostQueueIndex
from negotiator_quotasets.matching.names import is_for, is_for_user, joined, queue_matches
from negotiator_quotasets.requests import Claimant, RequestedResources

CODE = "resource_quota"
#: So many claimants are remembered at most, with so many slots in all (the ledger keeps places of each one's counters);
#: and so many elements of columns.
_CLAIMANTS, _PLACES, _ELEMENTS = 20_000, 1 << 24, 1 << 26

T = TypeVar("T")


@attrs.frozen(eq=False)
class RuleCharge:
    """What one limit of a rule costs a claimant: a counter, or one for each host, and the most of it."""

    complex: Complex
    counter: CounterKey | Grouping
    limit: int | Ints
    quota: Quota


@attrs.frozen(eq=False)
class RuleConstraint:
    """A limit of something that is not consumed: ``where`` (N,) the rule counts, None for everywhere.

    ``counter`` tells the values of expanded filters; nothing is charged on it. The rules of ``after`` tariffs come before.
    """

    complex: Complex
    limit: str
    where: Mask | None
    counter: CounterKey | Grouping
    quota: Quota
    after: int

    def text(self) -> str:
        """What is said where it is not kept; of several counters the first, and how many more."""
        if not isinstance(self.counter, Grouping):
            return self.quota.text
        codes = np.unique(self.counter.codes[self.counter.codes >= 0])
        key, more = self.counter.keys[int(codes[0])], len(codes) - 1
        return f"{self.quota.text}{key[-1]}{self.quota.text_after}{f' and {more} more' if more else ''}"


@attrs.frozen(eq=False)
class ClaimantRules:
    """All that the rules say to a claimant."""

    tariffs: tuple[RuleCharge, ...]
    bounds: tuple[RuleConstraint, ...]

    def charges(self, asked: RequestedResources, first: int | None = None) -> Iterator[Charge]:
        """What a job is charged for what it asks for, by all tariffs or the first. Who asks for 0 is held against the limit too."""
        for tariff in self.tariffs if first is None else self.tariffs[:first]:
            amount = asked.amounts.get(tariff.complex.name)
            if amount is not None:
                yield Charge(tariff.counter, amount, tariff.limit, tariff.quota, probes=not amount)

    def refusals(self, asked: RequestedResources) -> Iterator[RuleConstraint]:
        """The limits that what a job asks for does not keep."""
        for bound in self.bounds:
            value = asked.values.get(bound.complex.name)
            if value is not None and not satisfies(bound.complex, value, bound.limit):
                yield bound


@attrs.frozen(eq=False)
class _RuleRows:
    """A rule that counts at some places: ``mask`` (P,), None for all; ``codes`` (N,) the host of each slot there, else -1."""

    rule: int
    mask: Mask | None
    where: Mask | None  # (N,)


class Rules:
    """The enabled sets over the places of a pool."""

    def __init__(
        self,
        sets: Sequence[RuleSet],
        complexes: Complexes,
        usersets: Mapping[str, Sequence[str]],
        spots: HostQueueIndex,
    ) -> None:
        self._sets = [each for each in sets if each.enabled]
        self._complexes, self._spots = complexes, spots
        self._usersets = {name: frozenset(members) for name, members in usersets.items()}
        self._accounts = BoundedCache[ClaimantRules](
            min(_CLAIMANTS, max(64, _PLACES // (len(spots.codes) + 1)))
        )
        self._parts = BoundedCache[tuple[_RuleRows, ...]](max(64, _ELEMENTS // (len(spots.codes) + 1)))
        self._codes = BoundedCache[Codes](max(64, _ELEMENTS // (len(spots.codes) + 1)))
        self._limits: dict[int, Ints] = {}

    def account(self, claimant: Claimant) -> ClaimantRules:
        """What the rules say to a claimant."""
        return self._accounts.get(claimant, self._account, claimant)

    def _account(self, claimant: Claimant) -> ClaimantRules:
        tariffs: list[RuleCharge] = []
        bounds: list[RuleConstraint] = []
        for number_, each in enumerate(self._sets):
            open_ = tuple(place for place, rule in enumerate(each.rules) if self._may_count(rule, claimant))
            for part in self._parts.get((number_, open_), self._found, each, open_):
                label, rule = each.label(part.rule), each.rules[part.rule]
                for limit in rule.limits:
                    complex_ = self._complexes.find(limit.resource)
                    if complex_ is None:
                        continue  # the bundle was refused for it
                    prefix = _prefix(label, limit, rule, claimant, spread=bool(self._spots.queues))
                    counter = self._counter(rule, prefix, part, (number_, open_))
                    quota = _quota(label, rule, complex_, prefix, counter)
                    if complex_.is_consumable:
                        tariffs.append(RuleCharge(complex_, counter, self._limit(limit, complex_), quota))
                    else:
                        bounds.append(
                            RuleConstraint(complex_, limit.text, part.where, counter, quota, len(tariffs))
                        )
        return ClaimantRules(tuple(tariffs), tuple(bounds))

    def _may_count(self, rule: QuotaRule, claimant: Claimant) -> bool:
        return (
            is_for_user(rule.users, claimant.user, claimant.groups, self._usersets)
            and is_for(rule.projects, claimant.project)
            and is_for(rule.pes, claimant.pe)
            and (bool(self._spots.queues) or is_for(rule.queues, claimant.queue, queue_matches))
        )

    def _found(self, each: RuleSet, open_: Sequence[int]) -> tuple[_RuleRows, ...]:
        return tuple(self._find(each, open_))

    def _find(self, each: RuleSet, open_: Sequence[int]) -> Iterator[_RuleRows]:
        """The first rule at each place, of those that are left."""
        left: Mask | None = None  # the places at which none was found yet; None for all
        for number_ in open_:
            here = self._mask(each.rules[number_])
            if here is None:
                yield self._part(number_, left)
                return
            found = here if left is None else here & left
            if found.any():
                yield self._part(number_, None if found.all() else found)
            left = ~here if left is None else left & ~here
            if not left.any():
                return

    def _mask(self, rule: QuotaRule) -> Mask | None:
        """The places that a rule is for, (P,), None for all."""
        spots = self._spots
        found = None if rule.hosts is None else spots.hosts.mask(rule.hosts)[spots.host_of]
        if rule.queues is None or not spots.queues:
            return found
        known = {queue: is_for(rule.queues, queue) for queue in set(spots.queues)}
        queues = np.array([known[queue] for queue in spots.queues], np.bool_)
        return queues if found is None else found & queues

    def _part(self, rule: int, mask: Mask | None) -> _RuleRows:
        return _RuleRows(rule, mask, None if mask is None else mask[self._spots.codes])

    def _counter(
        self, rule: QuotaRule, prefix: CounterKey, part: _RuleRows, place: Hashable
    ) -> CounterKey | Grouping:
        """The counter of a rule for a claimant, or one for each host where that is expanded."""
        spots = self._spots
        by_host = rule.hosts is not None and rule.hosts.expanded
        if rule.queues is not None and rule.queues.expanded and spots.queues:
            return self._by_place(prefix, part, by_host=by_host)
        if not by_host and part.where is None:
            return (*prefix, "")
        groups, members = (
            (spots.host_of, spots.hosts.names) if by_host else (np.zeros(len(spots), np.intp), ("",))
        )
        codes = self._codes.get((place, part.rule, by_host), self._masked, groups, part)
        return Grouping(codes, Family(prefix, members))

    def _by_place(self, prefix: CounterKey, part: _RuleRows, *, by_host: bool) -> Grouping:
        """Counters by queue, and by host where that is expanded too."""
        spots = self._spots
        names = [
            (*prefix[:-1], queue, spots.hosts.names[host] if by_host else "")
            for queue, host in zip(spots.queues, spots.host_of.tolist(), strict=True)
        ]
        keys = list(dict.fromkeys(names))
        place = {key: number_ for number_, key in enumerate(keys)}
        return Grouping(self._masked(np.array([place[name] for name in names], np.intp), part), keys)

    def _masked(self, codes: np.ndarray[tuple[int], np.dtype[np.intp]], part: _RuleRows) -> Codes:
        """Codes of places as codes of slots, -1 where the part does not count."""
        if part.mask is not None:
            codes = np.where(part.mask, codes, -1)
        return codes.astype(np.int32)[self._spots.codes]

    def _limit(self, limit: RuleLimit, complex_: Complex) -> int | Ints:
        """The most, in units of the counter: one value, or (N,) where it is a formula. A host that does not tell has none."""
        if not limit.terms:
            return limit_units(
                complex_, parse_number(complex_.type, limit.text) if limit.value is None else limit.value
            )
        if id(limit) not in self._limits:  # the sets keep their limits
            spots = self._spots
            found = [
                limit_units(
                    complex_, value_at(limit.terms, complex_.type, _values(spots.values, host)) or Fraction(0)
                )
                for host in range(len(spots.hosts))
            ]
            self._limits[id(limit)] = np.array(found, np.int64)[spots.host_of][spots.codes]
        return self._limits[id(limit)]


def _prefix(label: str, limit: RuleLimit, rule: QuotaRule, claimant: Claimant, *, spread: bool) -> CounterKey:
    """All of a counter's key but the host: what is not expanded is empty."""
    own = (
        (rule.users, claimant.user),
        (rule.projects, claimant.project or ""),
        (rule.pes, claimant.pe or ""),
        (rule.queues, "" if spread else claimant.queue.removeprefix("root.")),
    )
    parts = (value if wanted is not None and wanted.expanded else "" for wanted, value in own)
    return (label, limit.resource, *parts)


#: Characters of a rule's label in reasons: names may be longer.
_MAX_LABEL = 200


def _quota(
    label: str, rule: QuotaRule, complex_: Complex, prefix: CounterKey, counter: CounterKey | Grouping
) -> Quota:
    """What is said of a charge that does not fit, as ``qstat -j`` says it."""
    label = label[:_MAX_LABEL]
    begin = printable(f'cannot run because it exceeds limit "{joined(prefix[2:])}')
    end = f'/" in rule "{label}"'
    several = isinstance(counter, Grouping)
    return Quota(
        rule=label,
        text=begin if several else f"{begin}{end}",
        text_after=end if several else None,
        resource=complex_.name,
        code=CODE,
        scale=units_of(complex_),
        source=rule.source,
    )


def _values(values: Mapping[str, Sequence[Fraction | None]], host: int) -> Mapping[str, Fraction | None]:
    return {name: column[host] for name, column in values.items()}
