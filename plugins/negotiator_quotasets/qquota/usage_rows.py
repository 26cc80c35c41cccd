"""The usage of the limits: a row for each counter of each rule that has been charged.

Source: qquota(1); "Resource Quota Sets", qquota. A limit of a complex that is not consumed has one row, without usage.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from negotiator.plugin import CounterKey
from negotiator_quotasets.complexes import Complex, Complexes, format_amount, parse_number, units_of
from negotiator_quotasets.language import SCOPES, NameFilter, QuotaRule, RuleLimit, RuleSet, evaluate_formula
from negotiator_quotasets.matching import Hosts

#: The length of a counter's key: the rule, the resource, and the value of each expanded filter.
_KEY_LENGTH = 2 + len(SCOPES)
#: The value of an expanded filter for a job without a project or parallel environment.
NONE = "-"


@attrs.frozen
class UsageRow:
    """One limit and its usage; ``values`` maps the scope of each expanded filter to the counter's value."""

    rule: str  # ``set/rule``
    filters: Mapping[str, NameFilter]
    values: Mapping[str, str]
    complex: Complex
    limit: str
    used: str | None = None

    @property
    def set_name(self) -> str:
        """The name of the rule's set."""
        return self.rule.partition("/")[0]

    def filter_names(self, hosts: Hosts) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        """Yield the scope, the included and the excluded names of each filter; hosts as the pool spells them."""
        for scope, wanted in self.filters.items():
            if scope in self.values:
                yield scope, (self.values[scope],), ()
            elif scope == "hosts":
                names, excluded = map(hosts.canonical, wanted.names), map(hosts.canonical, wanted.excluded)
                yield scope, tuple(names), tuple(excluded)
            else:
                yield scope, wanted.names, wanted.excluded


def usage_rows(
    sets: Iterable[RuleSet],
    complexes: Complexes,
    sums: Mapping[CounterKey, int],
    host_values: Callable[[str], Mapping[str, Fraction | None]],
) -> Iterator[UsageRow]:
    """Yield all rows in the order of sets, rules and limits; counters in the order in which they were charged.

    :param sums: the counters of the plugin.
    :param host_values: the values of a host by its name, which formulas are computed from.
    """
    counters = defaultdict[tuple[str, str], list[CounterKey]](list)
    for key, amount in sums.items():
        if len(key) == _KEY_LENGTH and amount:
            counters[key[0], key[1]].append(key)
    for set_ in sets:
        for number, rule in enumerate(set_.rules if set_.enabled else ()):
            label, filters = set_.label(number), dict(rule.filters())
            for limit in rule.limits:
                complex_ = complexes.find(limit.resource)
                if complex_ is None:
                    continue
                if not complex_.is_consumable:
                    yield UsageRow(label, filters, {}, complex_, limit.text)
                for key in counters[label, complex_.name]:
                    values = _values(rule, key)
                    used = format_amount(complex_.type, Fraction(sums[key], units_of(complex_)))
                    limit_text = _limit(limit, complex_, host_values(key[-1]) if limit.terms else {})
                    yield UsageRow(label, filters, values, complex_, limit_text, used)


def _values(rule: QuotaRule, key: Sequence[str]) -> dict[str, str]:
    """Return the values of expanded filters by scope."""
    parts = dict(zip(SCOPES, key[2:], strict=True))
    return {scope: parts[scope] or NONE for scope, wanted in rule.filters() if wanted.expanded}


def _limit(limit: RuleLimit, complex_: Complex, values: Mapping[str, Fraction | None]) -> str:
    if not limit.terms:
        value = parse_number(complex_.type, limit.text) if limit.value is None else limit.value
        return format_amount(complex_.type, value)
    computed = evaluate_formula(limit.terms, complex_.type, values)
    return limit.text if computed is None else format_amount(complex_.type, max(computed, Fraction(0)))
