"""Runs a recorded negotiation cycle under ``order: submitters``, and compares what happened with the record."""

import math
from collections import Counter

import attrs

from condor_accounts import accounts_of
from condor_cases import attribute_ads, job_ads, slot_ads, submitter_values
from condor_groups import record_differences
from condor_long import cycles_of
from fair_share import FAIR
from negotiator.bundle import load_bundle
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import allocator, run_cycle
from negotiator.plugin import Ad, Cycle, Table, parse
from negotiator.pool.snapshot import Snapshot
from negotiator_condor.limit_parser import parse_limits
from negotiator_fairshare.accounts.state_rows import to_row

BUNDLE = f"{FAIR}audit: {{matches: none}}\n"


def compared(content, case, folder):
    """Run the cycle of a case, or all of a run; yield the differences. The bundle is written to a new folder."""
    given = case["given"]
    replay = Replay(content, given, folder)
    for each in cycles_of(case) if "cycles" in case else (case,):
        result = replay.decide(each["given"], earlier_cycle=given.get("earlier_cycle", False))
        yield from (f"{each['id']}: {line}" for line in differences(each, result, replay.job_ids))
    for name, row in case.get("final_accounting", {}).get("customers", {}).items():
        yield from _account_differences(name, row, replay.rows[f"account:{name}"])


class Replay:
    """A negotiator with the knobs and accounts of a pool; it decides cycle by cycle.

    ``job_ids`` are those of the jobs that took part in the last cycle, in the order of their rows.
    """

    def __init__(self, content, given, folder):
        folder.mkdir()
        (folder / "pool.yaml").write_text(BUNDLE)
        knobs = given.get("knobs", {})
        (folder / "knobs.conf").write_text("".join(f"{name} = {value}\n" for name, value in knobs.items()))
        self.content, self.bundle, self.rows = content, load_bundle(folder), _rows(given)

    def decide(self, given, *, earlier_cycle=False):
        """Run one cycle, after one over the same slots without submitters if asked; return its result."""
        cycle = Cycle(1, float(given["now"]), self.bundle.digest)
        state = attrs.evolve(CycleState.new(self.bundle, cycle.now), order_rows={"submitters": self.rows})
        pool = _pool(self.content, given)
        if earlier_cycle:
            earlier = attrs.evolve(pool, submitters=Table.from_ads([]), jobs=Table.from_ads([]))
            state = run_cycle(earlier, self.bundle, cycle, state).state
        result = run_cycle(pool, self.bundle, cycle, state, self._order)
        self.rows = result.state.order_rows["submitters"]
        return result

    def _order(self, context):
        ads = map(context.jobs.ad, range(len(context.jobs)))
        self.job_ids = [f"{ad.integer('ClusterId')}.{ad.integer('ProcId')}" for ad in ads]
        return allocator(self.bundle, context)


def _account_differences(name, row, own):
    for field in ("Priority", "WeightedAccumulatedUsage", "WeightedResourcesUsed", "ResourcesUsed"):
        found = own.get(field, 0)
        if abs(found - row[field]) > 2e-6 * abs(row[field]):
            yield f"{field} of {name}: {found}, not {row[field]}"


def differences(case, result, job_ids):
    """Yield a sentence on each difference between the record of a case and the result of its cycle.

    :param job_ids: the ids of the jobs that took part, in the order of their rows.
    """
    expect = case["expect"]
    names = {each["name"].lower(): each["name"] for each in case["given"]["submitters"]}
    counts = Counter(names[entry.submitter] for entry in result.journal)
    if counts != Counter({name: count for name, count in expect["counts"].items() if count}):
        yield f"counts: {dict(counts)}, not {expect['counts']}"
    matches = [(entry.job, entry.slot) for entry in result.journal]
    recorded = [(each["job"], each["slot"]) for each in expect["matches"]]
    ended = [(match.job, match.slot_ad.string("RemoteUser")) for match in result.matches if match.preempts]
    if sorted(ended) != sorted(
        (each["job"], each["preempts"]) for each in expect["matches"] if "preempts" in each
    ):
        yield f"preempted: {ended}"
    if any(slot is None for _, slot in recorded):
        matches, recorded = [job for job, _ in matches], [job for job, _ in recorded]
    if matches != recorded:
        yield f"matches: {matches}, not {recorded}"
    refused = [(each.submitter, job_ids[each.job_row], each.reason) for each in result.order.rejections]
    if refused != [(each["submitter"], each["request"], each["reason"]) for each in expect["rejections"]]:
        yield f"rejections: {refused}, not {expect['rejections']}"
    if len(expect["pies"]) != len(result.order.pies):
        yield f"{len(result.order.pies)} pies, not {len(expect['pies'])}"
    for pie, found in zip(expect["pies"], result.order.pies, strict=False):
        yield from _pie_differences(pie, found)
    in_use = _limits_in_use(result)
    if in_use != expect.get("limits_in_use", {}):
        yield f"limits in use at the beginning: {in_use}, not {expect.get('limits_in_use')}"
    if "groups" in expect:
        yield from record_differences(expect["groups"], result.order.groups)


def _limits_in_use(result):
    """Return what was in use of each concurrency limit before the first match."""
    used = Counter({key[1]: amount for key, amount in result.ledger.counters() if key[0] == "condor"})
    for entry in result.journal:
        text = dict(entry.attributes).get("concurrencylimits")
        for item in parse_limits(text).requests if text else ():
            used[item.name] -= item.total
    return {name: amount / 1_000_000 for name, amount in used.items() if amount}


def _pie_differences(pie, found):
    if (pie["group"] or "", pie.get("floor_round", False)) != (found.group, found.floor_round):
        yield f"pie of {found.group}, not {pie['group']}"
    if "quota" in pie and not _equal(pie["quota"], found.quota, 6e-6):
        yield f"quota of {found.group}: {found.quota}, not {pie['quota']}"
    if (halted := pie.get("halted", {}).get("why")) != found.halted:
        yield f"halted: {found.halted}, not {halted}"
    if len(pie["spins"]) != len(found.spins):
        yield f"{len(found.spins)} spins, not {len(pie['spins'])}"
    for spin, own in zip(pie["spins"], found.spins, strict=False):
        for name, field in _SPIN.items():
            tolerance = 6e-4 if name == "pie_left" else 2e-6
            if not _equal(spin[name], getattr(own, field), tolerance):
                yield f"{name}: {getattr(own, field)}, not {spin[name]}"
        turns = [
            tuple(each.get(name, default) for name, default in _TURN.items()) for each in spin["submitters"]
        ]
        ours = [
            (
                each.submitter,
                each.end,
                each.matched,
                each.rejected,
                each.only_startd_rank,
                each.stop,
                each.skip,
            )
            for each in own.turns
        ]
        if ours != turns:
            yield f"turns: {ours}, not {turns}"
            continue
        for turn, record in zip(spin["submitters"], own.turns, strict=True):
            for name in (
                "priority",
                "factor",
                "share",
                "abs_share",
                "limit",
                "usage",
                "starved",
                "ceiling_left",
            ):
                if name in turn and not _equal(turn[name], getattr(record, name), 2e-6):
                    yield f"{name} of {turn['name']}: {getattr(record, name)}, not {turn[name]}"


_SPIN = {
    "slots": "slots",
    "slots_after_trimming": "slots_left",
    "slot_weight_total": "slot_weight_total",
    "min_slot_weight": "min_slot_weight",
    "pie_left": "pie_left",
    "normal_factor": "normal_factor",
    "max_prio": "max_priority",
    "submitter_ads": "submitters",
}
_TURN = {
    "name": "",
    "result": "",
    "matched": 0,
    "rejected": 0,
    "only_startd_rank": False,
    "stopped": None,
    "skipped": None,
}
_LARGEST = 1e300


def _equal(recorded, own, tolerance):
    if recorded == "max":
        return own > _LARGEST
    if recorded == "-nan":
        return math.isnan(own)
    if float(recorded) == own:  # infinite
        return True
    return abs(float(recorded) - own) <= tolerance * max(abs(float(recorded)), abs(own), 1)


def _pool(content, given):
    submitters = [submitter_values(each) for each in given["submitters"]]
    return Snapshot(
        schedds=Table.from_ads([]),
        submitters=Table.from_ads(attribute_ads(submitters)),
        slots=Table.from_ads(_slots(content, given["slots"])),
        jobs=Table.from_ads(job_ads(content, given["jobs"])),
        claim_ids=_claim_ids(given),
    )


def _claim_ids(given):
    """Return how many claim ids each slot has: two ads of one slot have one."""
    without, count = given.get("no_private_ad", ()), given.get("claim_ids_per_slot", 1)
    return tuple(0 if slot["name"] in without else count for slot in given["slots"])


def _slots(content, slots):
    """Return the ads of slots in their order; two may have one name."""
    for slot in slots:
        (ad,) = slot_ads(content, [slot]).values()
        yield Ad([("Name", parse(f'"{slot["name"]}"')), *ad.items()])


def _rows(given):
    """Return the rows of the accounts as the negotiator has them when it starts."""
    if not given.get("accounting"):
        return {}
    accounts = accounts_of(given)
    rows = {f"account:{name}": to_row(name, record) for name, record in accounts.records.items()}
    return {"clock": {"last_update": accounts.last_update}, **rows}
