"""What is used of the limits: a row for each counter of each rule that something is charged on.

Source: qquota(1); "Resource Quota Sets", qquota. Limits of what is not consumed have a row each, without usage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from negotiator.plugin import CounterKey
from negotiator_quotasets.complexes import Complex, Complexes, format_amount, parse_number, units_of
from negotiator_quotasets.language import SCOPES, NameFilter, QuotaRule, RuleLimit, RuleSet, value_at
from negotiator_quotasets.matching import Hosts

#: The parts of a counter's key: the rule, the resource, and the value of each expanded filter.
_PARTS = 2 + len(SCOPES)
NONE = "-"


@attrs.frozen
class UsageRow:
    """One limit and what is used of it. ``values`` has, by scope, the value of each filter that is expanded."""

    rule: str  # ``set/rule``
    filters: Mapping[str, NameFilter]
    values: Mapping[str, str]
    complex: Complex
    limit: str
    used: str | None = None

    def named(self, hosts: Hosts) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """By scope whom the row is about: those it names, and those it leaves out; hosts as the pool spells them."""
        for scope, wanted in self.filters.items():
            if scope in self.values:
                yield scope, (self.values[scope],), ()
            elif scope == "hosts":
                yield (
                    scope,
                    tuple(map(hosts.spelled, wanted.names)),
                    tuple(map(hosts.spelled, wanted.excluded)),
                )
            else:
                yield scope, wanted.names, wanted.excluded


def usage_rows(
    sets: Iterable[RuleSet],
    complexes: Complexes,
    sums: Mapping[CounterKey, int],
    on_host: Callable[[str], Mapping[str, Fraction | None]],
) -> Iterator[UsageRow]:
    """All rows, in the order of the sets, their rules and their limits; counters in the order in which they were charged.

    :param sums: what is counted on the plugin's counters.
    :param on_host: what formulas may know of a host.
    """
    counters = defaultdict[tuple[str, str], list[CounterKey]](list)
    for key, amount in sums.items():
        if len(key) == _PARTS and amount:
            counters[key[0], key[1]].append(key)
    for each in sets:
        for place, rule in enumerate(each.rules if each.enabled else ()):
            label, filters = each.label(place), dict(rule.filters())
            for limit in rule.limits:
                complex_ = complexes.find(limit.resource)
                if complex_ is None:
                    continue
                if not complex_.is_consumable:
                    yield UsageRow(label, filters, {}, complex_, limit.text)
                for key in counters[label, complex_.name]:
                    values = _values(rule, key)
                    used = format_amount(complex_.type, Fraction(sums[key], units_of(complex_)))
                    most = _limit(limit, complex_, on_host(key[-1]) if limit.terms else {})
                    yield UsageRow(label, filters, values, complex_, most, used)


def _values(rule: QuotaRule, key: Sequence[str]) -> dict[str, str]:
    """The values of expanded filters; ``-`` stands for no project and for no parallel environment."""
    parts = dict(zip(SCOPES, key[2:], strict=True))
    return {scope: parts[scope] or NONE for scope, wanted in rule.filters() if wanted.expanded}


def _limit(limit: RuleLimit, complex_: Complex, values: Mapping[str, Fraction | None]) -> str:
    if not limit.terms:
        return format_amount(
            complex_.type, parse_number(complex_.type, limit.text) if limit.value is None else limit.value
        )
    found = value_at(limit.terms, complex_.type, values)
    return limit.text if found is None else format_amount(complex_.type, max(found, Fraction(0)))
