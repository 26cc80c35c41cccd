"""Replays the decision cases of Grid Engine: rule sets, running jobs and a request, and the decision.

``DEPARTURES`` lists the cases with another result than the recorded one: the reason, and what is expected instead. A case's
``quirk`` describes behaviour that is not to be copied, and what to do instead.
"""

import re
from collections.abc import Callable
from fractions import Fraction

import attrs

from gridengine_cluster import recorded
from negotiator_quotasets.complexes import units_of
from negotiator_quotasets.language import parse_sets
from negotiator_quotasets.qquota.report import QuotaReport
from negotiator_quotasets.qquota.selection import RowSelection


@attrs.frozen
class Departure:
    """Cases that differ: which, why, and ``expected``, which returns a text if a case does not come out as expected."""

    reason: str
    concerns: Callable
    expected: Callable


def _refused(case, cluster):
    parsed = _parse(case, cluster)
    return "" if parsed.problems else "expected to be refused"


def _allowed(case, cluster):
    allocation = _allocation(case, cluster)
    decided = allocation.decide(cluster.job(_request(case)))
    return "" if decided.allowed else f"expected to be allowed: {decided}"


def _as_sequential(case, cluster):
    """A parallel job and the same sequential job are decided alike if neither lacks slots."""
    request = _request(case)
    alone = {key: value for key, value in request.items() if key not in {"pe", "slots"}}
    parallel, sequential = (_allocation(case, cluster).decide(cluster.job(each)) for each in (request, alone))
    return "" if parallel.allowed == sequential.allowed else f"expected {sequential}, got {parallel}"


def _counts(case, cluster):
    return "" if all(each.enabled for each in _parse(case, cluster).sets) else "expected to be enabled"


def _quirk(words):
    return lambda case: words in case.get("quirk", "")


def _says_reject(case):
    return "recommend: reject" in case.get("quirk", "") or "reject the others" in case.get("quirk", "")


def _is_sound(case):
    """True for a case that is marked for a stray brace but has none: it is decided as recorded."""
    return "stray brace" in case["quirk"] and not _STRAY.search(case["rulesets"])


#: A brace inside a filter.
_STRAY = re.compile(
    r"limit .*(?:\{[^}\n]*\{|\}[^{\n]*\}|[^ \n{]\{|\}[^ \n])|limit [^{\n]*\}|limit .*\{[^}\n]*\n"
)

DEPARTURES = (
    Departure(
        "the case says: reject at parse time",
        lambda case: _says_reject(case) and not _is_sound(case),
        _refused,
    ),
    Departure("parse cases say: a rule limits a resource once", _quirk("same resource twice"), _refused),
    Departure(
        "the case says: static resources of parallel jobs are compared as those of sequential ones",
        _quirk("same comparison as for sequential jobs"),
        _as_sequential,
    ),
    Departure("the case says: a plain large number", _quirk("plain large number"), _allowed),
    Departure(
        "parse cases say: an INT is written in decimal digits",
        lambda case: "lenient C strtod" in case.get("quirk", "") and not case["rulesets"].count("=1k"),
        _refused,
    ),
    Departure(
        "NOTES: only $num_proc, other numbers behind a switch; this is not a number",
        lambda case: "beyond the seed" in case.get("quirk", "") and "$bigmem" in case["rulesets"],
        _refused,
    ),
    Departure(
        "spec/float-sum: decimals are added exactly",
        lambda case: "floating-point tolerance" in case.get("note", ""),
        _allowed,
    ),
    Departure(
        "NOTES: enabled is TRUE by default",
        lambda case: "enabled" not in case["rulesets"],
        _counts,
    ),
    Departure(
        "NOTES: names of rules follow the grammar, and no two of a set are the same",
        lambda case: case["area"] == "edge" and "limit        name" in case["rulesets"],
        _refused,
    ),
)


def departure(case):
    """Return the departure of a case; None for most."""
    return next((each for each in DEPARTURES if each.concerns(case)), None)


def differences(case, cluster):
    """Return a text for each result of a case that is not as expected."""
    listed = departure(case)
    if listed is not None:
        wrong = listed.expected(case, cluster)
        return [f"{listed.reason}: {wrong}"] if wrong else []
    parsed = _parse(case, cluster)
    if parsed.problems:
        return [f"refused: {parsed.problems[0].message}"]
    allocation = _allocation(case, cluster)
    found = []
    expect = case.get("expect", {})
    questions = [(case["request"], expect)] if "request" in case else []
    questions += [(expect["request"], expect)] if "request" in expect else []
    questions += [(each["request"], each) for each in case.get("requests", ())]
    for request, wanted in questions:
        twin = {**case, "request": request}
        if "static resource with a pe" in wanted.get("quirk", ""):
            found += filter(None, [_as_sequential(twin, cluster)])
        else:
            found += _decided(allocation, cluster, request, wanted)
    if "counters" in expect:
        found += _counters(cluster, allocation.usage().counters.sums, expect["counters"])
    rows = expect.get("qquota", case.get("qquota"))
    if rows is not None and not case.get("qquota_hides_counters"):
        found += _listed(allocation, rows)
    return found


def _parse(case, cluster):
    return parse_sets(case["rulesets"], "rules", cluster.complexes, numeric_formulas=_numeric_formulas(case))


def _numeric_formulas(case):
    return "beyond the seed" in case.get("quirk", "")


def _request(case):
    return case.get("request") or case["expect"]["request"]


def _allocation(case, cluster):
    allocation = cluster.allocation(case["rulesets"], numeric_formulas=_numeric_formulas(case))
    for entry in case.get("running", case.get("expect", {}).get("running", ())):
        allocation.run(cluster.job(entry))
    return allocation


def _decided(allocation, cluster, request, wanted):
    decision = allocation.decide(cluster.job(request), counts="max_slots" in wanted)
    verdict = "allowed" if decision.allowed else "denied"
    if verdict != wanted["decision"]:
        return [f"{request}: {verdict} {decision}, expected {wanted['decision']} {wanted.get('denied_by')}"]
    if "max_slots" in wanted and decision.slots != wanted["max_slots"]:
        return [f"{request}: at most {decision.slots} slots, expected {wanted['max_slots']}"]
    expected = {(each["rule"], each["key"]) for each in wanted.get("denied_by", ())}
    deniers = {(each.rule, recorded(each.key)) for each in decision.denied_by}
    # Grid Engine names no rule where an environment on one host offers no slots: naming it is no difference.
    if verdict == "denied" and expected and deniers != expected:
        return [f"{request}: denied by {sorted(deniers)}, expected {sorted(expected)}"]
    return []


def _counters(cluster, sums, expected):
    found = {}
    for key, amount in sums.items():
        complex_ = cluster.complexes.find(key[1])
        if len(key) == 7 and amount:
            values = recorded("".join(f"{part}/" for part in key[2:]))
            found[key[0], key[1], values] = float(Fraction(amount, units_of(complex_)))
    wanted = {(each["rule"], each["resource"], each["key"]): each["used"] for each in expected}
    return [] if found == wanted else [f"counters {found}, expected {wanted}"]


def _listed(allocation, expected):
    report = QuotaReport.of(allocation.settings, allocation.usage())
    hosts, selected = report.hosts, list(report.selected(RowSelection()))
    found = [_row(each, hosts) for each in selected]
    wanted = sorted(map(str, map(_ordered, expected)))
    # NOTES: Grid Engine hides rules for jobs without project or parallel environment; that is not copied.
    shown = [_row(each, hosts) for each in selected if not is_hidden(each)]
    if wanted in (sorted(map(str, found)), sorted(map(str, shown))):
        return []
    return [f"qquota {found}, expected {expected}"]


def is_hidden(row):
    """True if Grid Engine's qquota hides a row: ``projects !*`` or ``pes !*``, expanded or not."""
    return any("*" in row.filters[each].excluded for each in ("projects", "pes") if each in row.filters)


def _row(row, hosts):
    entry = {"rule": row.rule, "resource": row.complex.name, "limit": recorded(row.limit)}
    for scope, names, excluded in row.filter_names(hosts):
        if names:
            entry[scope] = _recorded_names(scope, names)
        if excluded:
            entry[f"x{scope}"] = _recorded_names(scope, excluded)
    if row.used is not None:
        entry["used"] = row.used
    return _ordered(entry)


def _recorded_names(scope, names):
    return [recorded(name) if scope == "queues" else name for name in names]


def _ordered(entry):
    return dict(sorted(entry.items()))
