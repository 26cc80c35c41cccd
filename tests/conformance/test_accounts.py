"""The accounts of every recorded negotiation cycle, compared with those that condor_negotiator wrote."""

import pytest

from condor_accounts import RecordedCycle, accounts_of, weights_are_known
from condor_cases import has_odd_weights
from condor_long import slots_now
from negotiator_fairshare.accounts.accounts import INTEGERS, REALS


def test_accounts_after_recorded_cycles(condor_cases, condor_file, report):
    """Each case has the recorded rows and slots in use after its cycles; failures have the ids of their cases."""
    content = condor_cases.read(condor_file)
    failures = []
    counts = {"passed": 0, "failed": 0, "not compared": 0}
    for case in content["cases"]:
        # A slot with a consumption policy is matched several times, and each match costs another part of its weight.
        unknown = "claim_ids_per_slot" in case["given"] or not weights_are_known(content, case)
        if unknown or has_odd_weights(content, case["given"]):
            counts["not compared"] += 1
            continue
        found = [*_differences(content, case)]
        counts["failed" if found else "passed"] += 1
        failures += [f"{case['id']}: {line}" for line in found]
    report(condor_file, counts)
    if failures:
        pytest.fail("\n".join([f"{condor_file}: {counts}", *failures[:30]]), pytrace=False)


def _differences(content, case):
    given = case["given"]
    accounts = accounts_of(given)
    if "cycles" in case:
        yield from _long_differences(content, case, accounts)
        return
    cycle = RecordedCycle(content, given, given["slots"])
    expect = case["expect"]
    after = cycle.after(accounts, given["now"], _served(expect), expect["matches"])
    yield from _compared(after, expect["accounting"], cycle.settings, given["now"])
    if all(match["slot"] for match in expect["matches"]):
        yield from _resources(after.resources, expect["accounting"].get("resources") or {})


def _long_differences(content, case, accounts):
    given = case["given"]
    for entry in case["cycles"]:
        cycle = RecordedCycle(content, given, [*slots_now(given["slots"], entry["given"])])
        expect = entry["expect"]
        accounts = cycle.after(accounts, entry["given"]["now"], _served(expect), expect["matches"])
        for name, ad in expect["accounting_ads"].items():
            effective = accounts.effective_priority(name, cycle.settings)
            if abs(effective - ad["Priority"]) > 6e-6 * abs(effective):  # ads have six significant digits
                yield f"cycle {entry['cycle']}: {name} has priority {effective}, not {ad['Priority']}"
    yield from _compared(accounts, case["final_accounting"], cycle.settings, entry["given"]["now"])
    yield from _resources(accounts.resources, case["final_accounting"]["resources"])


def _served(expect):
    """The submitters whose priority the negotiator looked at."""
    spins = [spin for pie in expect["pies"] for spin in pie["spins"]]
    return {each["name"] for spin in spins for each in spin["submitters"]}


def _compared(accounts, expected, settings, now):
    # Where the clock was set back, condor_negotiator writes no time into its log.
    if accounts.last_update != expected["last_update"] and now >= expected["last_update"]:
        yield f"last update {accounts.last_update}, not {expected['last_update']}"
    for name, row in expected["customers"].items():
        record = accounts.get(name)
        for attribute, value in row.items():
            field = {**INTEGERS, **REALS}.get(attribute)
            if field is None:
                yield f"{name}: unknown attribute {attribute}"
                continue
            if field == "factor" and value < 1:  # as good as none: nobody asked for it
                continue
            ours = accounts.factor(name, settings) if field == "factor" else getattr(record, field)
            if abs(ours - value) > 1e-12 * abs(value):
                yield f"{name}: {attribute} is {ours}, not {value}"
    unexpected = accounts.records.keys() - expected["customers"].keys()
    if unexpected:
        yield f"unexpected accounts: {sorted(unexpected)}"


def _resources(ours, expected):
    if ours.keys() != expected.keys():
        yield f"slots in use: {sorted(ours.keys() ^ expected.keys())}"
    for key in ours.keys() & expected.keys():
        row = expected[key]
        theirs = (row["RemoteUser"], row["SlotWeight"], row["StartTime"])
        found = (ours[key].user, round(ours[key].weight, 6), ours[key].start_time)
        if found != theirs:
            yield f"{key}: {found}, not {theirs}"
