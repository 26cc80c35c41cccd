"""Accounting groups on the ledger: what they use, their quotas as hard limits, modes, and the report."""

import itertools

import attrs
import pytest

from fair_share import FAIR, grouped_pool, run, settings_of, shares
from negotiator.plugin import CounterUsage, Mode
from negotiator_fairshare import negotiator_usage
from pools import slot, used, write_bundle

QUOTAS = "GROUP_NAMES = a, a.x, b\nGROUP_QUOTA_a = 6\nGROUP_QUOTA_DYNAMIC_a.x = 0.5\nGROUP_QUOTA_b = 2\n"


@pytest.fixture
def groups(tmp_path):
    """Return a function that makes a bundle with these knobs and further keys of pool.yaml."""
    numbers = itertools.count()
    return lambda conf, more="": write_bundle(tmp_path / str(next(numbers)), FAIR + more, conf=conf)


def weights(result, mode=Mode.ENFORCE):
    """Return what the ledger has of each accounting group."""
    found = used(result, mode)
    return {name.removeprefix("fairshare."): found[name] / 1e6 for name in found if "fairshare" in name}


def test_matches_are_charged_on_the_group_and_on_those_above_it(groups):
    slots = [slot(number, SlotWeight=weight) for number, weight in enumerate(["0.5", "2", "1.25"])]
    result = run(groups(QUOTAS), grouped_pool({"a.x.sue": 2, "b.tim": 1}, slots))
    matched = {each.submitter.partition("@")[0]: 0.0 for each in result.matches}
    for each in result.matches:
        matched[each.submitter.partition("@")[0]] += each.slot_ad.real("SlotWeight")
    charged = weights(result)
    assert charged["a.x"] == charged["a"] == matched["a.x.sue"]
    assert charged["<none>"] == sum(matched.values())


def test_claimed_slots_are_charged_at_the_beginning_of_a_cycle(groups):
    claimed = {"State": '"Claimed"', "RemoteUser": '"b.old@d"', "AccountingGroup": '"b.old@d"'}
    slots = [slot(0, SlotWeight="1.5", **claimed), slot(1, SlotWeight="3")]
    assert weights(run(groups(QUOTAS), grouped_pool({"a.ann": 0}, slots)))["b"] == 1.5


@pytest.mark.parametrize(("overrun", "above"), [("exact", []), ("fixed", [(3.0, 2.0)])])
def test_usage_above_a_quota_is_reported_where_it_is_a_hard_limit(groups, overrun, above):
    claimed = {"State": '"Claimed"', "RemoteUser": '"b.old@d"', "AccountingGroup": '"b.old@d"'}
    slots = [slot(number, SlotWeight="1.5", **claimed) for number in range(2)]
    own = groups(QUOTAS, f"compatible: {{group_overrun: {overrun}}}\n")
    found = run(own, grouped_pool({"a.ann": 0}, slots)).overruns
    assert [(each.used, each.limit) for each in found] == above
    assert {each.subject for each in found} <= {"slots of accounting group b"}


def test_without_groups_nothing_is_charged(groups):
    assert weights(run(groups(""), grouped_pool({"ann": 1}, [slot(0)]))) == {}


def test_a_match_by_rank_takes_a_group_above_its_quota_unless_the_switch_forbids_it(groups):
    claimed = {"State": '"Claimed"', "RemoteUser": '"b.old@d"', "CurrentRank": "0", "SlotWeight": "2"}
    slots = [slot(number, **claimed, Rank="1") for number in range(6)]
    found = grouped_pool({"a.ann": 6}, slots)
    conf = QUOTAS + "NEGOTIATOR_CONSIDER_PREEMPTION = true\n"
    exact = weights(run(groups(conf), found))
    fixed = weights(run(groups(conf, "compatible: {group_overrun: fixed}\n"), found))
    assert (exact["a"] > 6, fixed["a"]) == (True, 6)


def test_a_refused_match_names_the_quota_and_its_place(groups):
    slots = [slot(number, SlotWeight="4", Rank="0") for number in range(3)]
    result = run(
        groups(QUOTAS, "compatible: {group_overrun: fixed, unclaimed_limit: fixed}\n"),
        grouped_pool({"a.ann": 3}, slots),
    )
    removals = [each.reason for outcome in result.outcomes for each in outcome.removals]
    (quota,) = [reason for reason in removals if reason.code == "group_quota"]
    assert quota.numbers == {"needed": 4, "used": 4, "limit": 6}
    assert (quota.provenance.rule, quota.provenance.source.line) == ("quota of accounting group a", 2)


@pytest.mark.parametrize("more", ["GROUP_AUTOREGROUP_a = true\n", "GROUP_ACCEPT_SURPLUS_a = true\n"])
def test_a_group_that_may_use_what_others_leave_has_no_hard_limit(groups, more):
    slots = [slot(number, SlotWeight="2") for number in range(6)]
    result = run(
        groups(QUOTAS + more, "compatible: {group_overrun: fixed}\n"), grouped_pool({"a.ann": 12}, slots)
    )
    assert shares(result)["a.ann"] > 3


@pytest.mark.parametrize("mode", [Mode.WARN, Mode.DRYRUN])
def test_quotas_that_do_not_enforce_divide_nothing_and_name_the_matches_above_them(groups, mode):
    slots = [slot(number, SlotWeight="1") for number in range(6)]
    result = run(groups(QUOTAS, f"accounting_group_mode: {mode}\n"), grouped_pool({"b.tim": 5}, slots))
    assert shares(result) == {"b.tim": 5}
    warned = [match for match in result.matches if match.warnings]
    assert [str(reason.mode) for match in warned for reason in match.warnings] == [str(mode)] * 3
    assert (weights(result, Mode.WARN)["b"], "b" in weights(result)) == (5, False)


def test_a_slot_with_a_consumption_policy_is_charged_what_the_job_takes(groups):
    policy = {f"Consumption{name}": f"TARGET.Request{name}" for name in ("Cpus", "Memory", "Disk")}
    more = {"PartitionableSlot": "true", "MachineResources": '"Cpus Memory Disk"', "NumDynamicSlots": "0"}
    sizes = {"Cpus": "8", "Memory": "8192", "Disk": "8192", "SlotWeight": "Cpus"}
    slots = [slot(0, **policy, **more, **sizes, ClaimIds='"3"')]
    requests = {"RequestCpus": "2", "RequestMemory": "64", "RequestDisk": "1"}
    result = run(groups(QUOTAS), grouped_pool({"a.ann": 3}, slots, **requests))
    assert len(result.matches) == 3
    assert weights(result)["a"] == 6


def test_the_report_has_the_use_and_the_quota_of_each_group():
    settings = settings_of(
        {
            "GROUP_NAMES": "a, a.x",
            "GROUP_QUOTA_a": "6",
            "GROUP_QUOTA_DYNAMIC_a.x": "0.5",
            "GROUP_ACCEPT_SURPLUS_a.x": "true",
        }
    )
    usage = CounterUsage({("a",): 3_500_000, ("<none>",): 4_000_000}, {}, {})
    found = list(negotiator_usage("accounting-groups", usage, settings))
    assert found == [
        {"group": "<none>", "used": 4.0},
        {"group": "a", "used": 3.5, "quota": 6.0, "accept_surplus": False, "mode": "enforce"},
        {"group": "a.x", "used": 0.0, "fraction": 0.5, "accept_surplus": True, "mode": "enforce"},
    ]
    assert {type(entry["used"]) for entry in found} == {float}
    assert list(negotiator_usage("users", usage, settings)) == []


def test_an_account_that_weighs_nothing_is_charged_nothing(groups):
    slots = [slot(number, SlotWeight="0") for number in range(2)]
    assert weights(run(groups(QUOTAS), grouped_pool({"a.ann": 2}, slots))).get("a", 0) == 0


def test_the_settings_have_the_place_of_each_quota():
    groups = settings_of({"GROUP_NAMES": "a, b", "GROUP_QUOTA_a": "6"}).groups
    assert {name: attrs.astuple(source)[1] for name, source in groups.sources.items()} == {"a": 2}
