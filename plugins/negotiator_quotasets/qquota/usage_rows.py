"""The usage of the limits: a row for each counter of each rule that has been charged; as XML, one ``qquota_rule`` per row, and as text.

A limit of a complex that is not consumed has one row, without usage. Source: qquota(1), OUTPUT FORMATS; "Resource Quota Sets", qquota XML
Schema; the elements are those that Grid Engine prints, see ``qquota.xsd``. Grid Engine cuts off a limit in text at 20 characters, which can
hide it or look like a smaller one; here a longer limit is printed whole, and shifts the filter to the right.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

import attrs

from negotiator.plugin import CounterKey, printable
from negotiator_quotasets.complexes import Complex, Complexes, format_amount, parse_number, units_of
from negotiator_quotasets.language import SCOPES, NameFilter, QuotaRule, RuleLimit, RuleSet, evaluate_formula
from negotiator_quotasets.matching import Hosts

#: The length of a counter's key: the rule, the resource, and the value of each expanded filter.
_KEY_LENGTH = 2 + len(SCOPES)
#: The value of an expanded filter for a job without a project or parallel environment.
NONE = "-"
NAMESPACE = "http://arc.liv.ac.uk/repos/darcs/sge/source/source/dist/util/resources/schemas/qquota/qquota.xsd"
#: Characters that an XML document may not have, not even as references (XML 1.0, 2.2).
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Characters that parsers replace by spaces in attributes, unless they are references (XML 1.0, 3.3.3).
_WHITE = {ord(character): f"&#{ord(character)};" for character in "\t\n\r"}
_FORMAT = "%-18s %-20s %s"
_HEADER = (_FORMAT % ("resource quota rule", "limit", "filter"), "-" * 80)
_NO_FILTER = "-"


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


def xml_lines(rows: Iterable[UsageRow], hosts: Hosts) -> Iterator[str]:
    """Yield the lines of the document, without newlines; it must be encoded as UTF-8."""
    yield "<?xml version='1.0'?>"
    yield f'<qquota_result xmlns="{NAMESPACE}">'
    for row in rows:
        yield f" <qquota_rule name='{escaped(row.rule)}'>"
        for scope, names, excluded in row.filter_names(hosts):
            yield from (f"   <{scope}>{escaped(name)}</{scope}>" for name in names)
            yield from (f"   <x{scope}>{escaped(name)}</x{scope}>" for name in excluded)
        value = "" if row.used is None else f" value='{escaped(row.used)}'"
        yield f"   <limit resource='{escaped(row.complex.name)}' limit='{escaped(row.limit)}'{value}/>"
        yield " </qquota_rule>"
    yield "</qquota_result>"


def escaped(text: str) -> str:
    """Return a text escaped for an element or an attribute, in quotes of either kind.

    Characters that XML can't have are replaced: names of users and projects come from job ads.
    """
    return html.escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)).translate(_WHITE)


def table_lines(rows: Iterable[UsageRow], hosts: Hosts) -> Iterator[str]:
    """Yield the lines of the table, without newlines; nothing if there are no rows.

    Unprintable characters are replaced: names of users and projects come from job ads.
    """
    for number, row in enumerate(rows):
        if not number:
            yield from _HEADER
        yield printable(_FORMAT % (row.rule, _limit_text(row), filters(row, hosts)))


def _limit_text(row: UsageRow) -> str:
    """Return ``slots=2/10``, or ``arch=lx24-amd64`` for a complex that is not consumed."""
    used = "" if row.used is None else f"{row.used}/"
    return f"{row.complex.name}={used}{row.limit}"


def filters(row: UsageRow, hosts: Hosts) -> str:
    """Return the filters of a row, such as ``users alice hosts durin``; ``-`` if it has none."""
    return " ".join(_filter(row, *each) for each in row.filter_names(hosts)) or _NO_FILTER


def _filter(row: UsageRow, scope: str, names: tuple[str, ...], excluded: tuple[str, ...]) -> str:
    text = ",".join((*names, *(f"!{name}" for name in excluded)))
    expanded = row.filters[scope].expanded and scope not in row.values
    return f"{scope} {{{text}}}" if expanded else f"{scope} {text}"
