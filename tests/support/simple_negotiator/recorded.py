"""Compare what this negotiator decides with recorded cases."""

from condor_long import cycles_of
from simple_negotiator.cycle import Negotiator

NOT_HERE = {
    "claim_ids_per_slot": "consumption policies",
    "USE_GLOBAL_JOB_PRIOS": "global job priorities",
    "WantAdRevaluate": "WantAdRevaluate",
}
"""What the rules leave out: the cases that have it are not compared."""

USUALLY_ABSENT = {
    *("matched", "rejected", "only_startd_rank", "stopped", "skipped"),
    *("preempts", "halted", "floor_round", "limits_in_use", "constrained"),
}
"""Fields that a recorded case only has if they are not empty."""


def left_out(case):
    """Return why a case is not compared, None if it is."""
    given = case["given"]
    keys = {*given, *given.get("knobs", {})}.union(*given["slots"])
    return next((why for key, why in NOT_HERE.items() if key in keys), None)


def differences(content, case):
    """Yield a line for each difference between a recorded case and what this negotiator decides."""
    given = case["given"]
    negotiator = Negotiator(content, given)
    if given.get("earlier_cycle"):
        negotiator.decide({**given, "submitters": [], "jobs": []})
    for each in cycles_of(case) if "cycles" in case else (case,):
        found = negotiator.decide(each["given"])
        expected, found = [_by_name(one, each["expect"]) for one in (each["expect"], found)]
        for key in ("counts", "matches", "rejections", "pies", "groups", "limits_in_use"):
            for line in _differences(key, expected.get(key), found.get(key)):
                yield f"{each['id']}: {line}"
    accounting = case.get("final_accounting") or case["expect"]["accounting"]
    equal_slots = any(match["slot"] is None for match in case.get("expect", {}).get("matches", ()))
    yield from accounting_differences(accounting, negotiator.accounts, equal_slots=equal_slots)


def _by_name(expect, recorded):
    if any(match["slot"] is None for match in recorded["matches"]):  # one of many equal slots
        matches = [each | {"slot": None} for each in expect["matches"]]
        expect = {**expect, "matches": matches}
    if "groups" not in expect:
        return expect
    table = {row["name"]: row for row in expect["groups"]["table"]}
    return {**expect, "groups": {**expect["groups"], "table": table}}


def accounting_differences(expected, accounts, *, equal_slots):
    """Yield a line for each difference of the rows of accounts, and of the slots in use."""
    for name, row in expected["customers"].items():
        for attribute, value in row.items():
            yield from _differences(f"{attribute} of {name}", value, accounts.get(name, attribute))
    if unexpected := accounts.rows.keys() - expected["customers"].keys():
        yield f"unexpected accounts: {sorted(unexpected)}"
    if equal_slots:
        return
    held = {name: row["RemoteUser"] for name, row in (expected.get("resources") or {}).items()}
    found = {name: row["RemoteUser"] for name, row in accounts.records.items()}
    yield from _differences("slots in use", held, found)


def _differences(where, expected, found):
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            yield from _differences(f"{where}.{key}", value, found.get(key))
        for key in found.keys() & USUALLY_ABSENT - expected.keys():
            if found[key]:
                yield f"{where}.{key}: {found[key]}, not absent"
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{where}: {len(found)} entries, not {len(expected)}"
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            yield from _differences(f"{where}[{number}]", one, other)
    elif not _alike(where, expected, found):
        yield f"{where}: {found}, not {expected}"


def _alike(where, expected, found):
    if expected == "max":
        return found > 1e300
    if not expected and not found:
        return True
    if str(expected) == str(found):
        return True
    if isinstance(expected, int | float) and isinstance(found, int | float):
        tolerance = 6e-4 if where.endswith("pie_left") else 2e-6
        if "groups" in where or where.endswith(".quota"):
            return abs(expected - found) <= 6e-6 * max(abs(expected), abs(found), 1e-3)
        return abs(expected - found) <= tolerance * max(abs(expected), abs(found), 1)
    return expected == found
