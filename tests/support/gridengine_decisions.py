"""Runs the decision cases of Grid Engine: rule sets, running jobs and a request, and what comes of it.

``DEPARTURES`` is the list of what is not as recorded: for each kind of case the reason, and what is expected instead. A
case's ``quirk`` says what is not to be copied, and what to do instead.
"""

import re
from collections.abc import Callable
from fractions import Fraction

import attrs

from negotiator_quotasets.complexes import units_of
from negotiator_quotasets.deciding import Denier
from negotiator_quotasets.language import parse_sets
from negotiator_quotasets.qquota.selection import RowSelection, members_of
from negotiator_quotasets.qquota.usage_rows import usage_rows


@attrs.frozen
class Departure:
    """Cases that differ: which, why, and ``expected`` of ours, a text that says what is wrong, or nothing."""

    reason: str
    concerns: Callable
    expected: Callable


def _refused(case, cluster):
    parsed = _parse(case, cluster)
    return "" if parsed.problems else "expected to be refused"


def _allowed(case, cluster):
    desk = _desk(case, cluster)
    decided = desk.decide(cluster.job(_request(case)))
    return "" if decided.allowed else f"expected to be allowed: {decided}"


def _as_sequential(case, cluster):
    """A parallel job and the same job without its environment fare alike, where neither is short of slots."""
    request = _request(case)
    alone = {key: value for key, value in request.items() if key not in {"pe", "slots"}}
    parallel, sequential = (_desk(case, cluster).decide(cluster.job(each)) for each in (request, alone))
    return "" if parallel.allowed == sequential.allowed else f"expected {sequential}, got {parallel}"


def _counts(case, cluster):
    return "" if all(each.enabled for each in _parse(case, cluster).sets) else "expected to be enabled"


def _quirk(words):
    return lambda case: words in case.get("quirk", "")


def _says_reject(case):
    return "recommend: reject" in case.get("quirk", "") or "reject the others" in case.get("quirk", "")


def _is_sound(case):
    """Some cases are marked for a stray brace and have none: these come to what was recorded."""
    return "stray brace" in case["quirk"] and not _STRAY.search(case["rulesets"])


#: A brace in a filter that neither begins nor ends it.
_STRAY = re.compile(
    r"limit .*(?:\{[^}\n]*\{|\}[^{\n]*\}|[^ \n{]\{|\}[^ \n])|limit [^{\n]*\}|limit .*\{[^}\n]*\n"
)

DEPARTURES = (
    Departure(
        "the case says: reject at parse time",
        lambda case: _says_reject(case) and not _is_sound(case),
        _refused,
    ),
    Departure("parse cases say: a resource stands once in a rule", _quirk("same resource twice"), _refused),
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
        "NOTES: only $num_proc, other numbers behind a switch; this is no number",
        lambda case: "beyond the seed" in case.get("quirk", "") and "$bigmem" in case["rulesets"],
        _refused,
    ),
    Departure(
        "spec/float-sum: decimals are added exactly",
        lambda case: "floating-point tolerance" in case.get("note", ""),
        _allowed,
    ),
    Departure(
        "NOTES: enabled is TRUE where it is left out",
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
    """The departure that a case falls under; None for most."""
    return next((each for each in DEPARTURES if each.concerns(case)), None)


def differences(case, cluster):
    """What a case comes to that is not as expected, a text each."""
    listed = departure(case)
    if listed is not None:
        wrong = listed.expected(case, cluster)
        return [f"{listed.reason}: {wrong}"] if wrong else []
    parsed = _parse(case, cluster)
    if parsed.problems:
        return [f"refused: {parsed.problems[0].message}"]
    desk = _desk(case, cluster)
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
            found += _decided(desk, cluster, request, wanted)
    sums = dict(desk.ledger.counters())
    if "counters" in expect:
        found += _counters(cluster, sums, expect["counters"])
    told = expect.get("qquota", case.get("qquota"))
    if told is not None and not case.get("qquota_hides_counters"):
        found += _listed(parsed.sets, cluster, sums, told)
    return found


def _parse(case, cluster):
    numeric = "beyond the seed" in case.get("quirk", "")
    return parse_sets(case["rulesets"], "rules", cluster.complexes, numeric_formulas=numeric)


def _request(case):
    return case.get("request") or case["expect"]["request"]


def _desk(case, cluster):
    desk = cluster.desk(_parse(case, cluster).sets)
    for entry in case.get("running", case.get("expect", {}).get("running", ())):
        desk.run(cluster.job(entry))
    return desk


def _decided(desk, cluster, request, wanted):
    decision = desk.decide(cluster.job(request))
    told = "allowed" if decision.allowed else "denied"
    if told != wanted["decision"]:
        return [f"{request}: {told} {decision}, expected {wanted['decision']} {wanted.get('denied_by')}"]
    if "max_slots" in wanted and decision.slots != wanted["max_slots"]:
        return [f"{request}: at most {decision.slots} slots, expected {wanted['max_slots']}"]
    deniers = {Denier(each["rule"], each["key"]) for each in wanted.get("denied_by", ())}
    # Grid Engine names no rule where an environment on one host offers no slots: naming it is no difference.
    if told == "denied" and deniers and decision.denied_by != deniers:
        return [
            f"{request}: denied by {sorted(map(str, decision.denied_by))}, expected {sorted(map(str, deniers))}"
        ]
    return []


def _counters(cluster, sums, expected):
    found = {}
    for key, amount in sums.items():
        complex_ = cluster.complexes.find(key[1])
        if len(key) == 7 and amount:
            found[key[0], key[1], "".join(f"{part}/" for part in key[2:])] = float(
                Fraction(amount, units_of(complex_))
            )
    wanted = {(each["rule"], each["resource"], each["key"]): each["used"] for each in expected}
    return [] if found == wanted else [f"counters {found}, expected {wanted}"]


def _listed(sets, cluster, sums, expected):
    members = members_of(cluster.env["usersets"], cluster.spots.hosts)
    found = [
        _row(each, cluster)
        for each in usage_rows(sets, cluster.complexes, sums, cluster.on_host)
        if RowSelection().wants(each, members, cluster.complexes)
    ]
    wanted = sorted(map(str, map(_ordered, expected)))
    # NOTES: Grid Engine hides rules for jobs without project or parallel environment; that is not copied.
    shown = [each for each in found if "*" not in (*each.get("xprojects", ()), *each.get("xpes", ()))]
    if wanted in (sorted(map(str, found)), sorted(map(str, shown))):
        return []
    return [f"qquota {found}, expected {expected}"]


def _row(row, cluster):
    entry = {"rule": row.rule, "resource": row.complex.name, "limit": row.limit}
    for scope, names, left_out in row.named(cluster.spots.hosts):
        if names:
            entry[scope] = list(names)
        if left_out:
            entry[f"x{scope}"] = list(left_out)
    if row.used is not None:
        entry["used"] = row.used
    return _ordered(entry)


def _ordered(entry):
    return dict(sorted(entry.items()))
