"""Matches of earlier cycles that the pool does not show yet count for their submitters and groups, and in the pie."""

import attrs
import pytest

from fair_share import FAIR, grouped_pool, jobs_of, run, shares, submitter
from negotiator.plugin import Ad, Table
from negotiator_fairshare.account_requests import AccountsImport, change_rows
from negotiator_fairshare.accounts import AccountRecord, Accounts
from negotiator_fairshare.accounts.account import ResourceRecord
from negotiator_fairshare.accounts.state_rows import check_row, resources_of, rows_of
from negotiator_fairshare.userprio.resources import recorded_resources
from negotiator_fairshare.userprio.selection import account_ads
from pools import NOW, slot, snapshot, write_bundle

SLOTS = [slot(number, Cpus="1") for number in range(10)]


def accounts(bundle, **changed):
    """Return a state in which Ann's account has these values."""
    rows = rows_of(Accounts(records={"Ann@d": AccountRecord(**changed)}))
    return attrs.evolve(run(bundle, snapshot()).state, order_rows={"submitters": rows})


def second(bundle, pool, then=None, state=None):
    """Return the result of the second of two cycles, a second later, over a pool that shows no match of the first one."""
    first = run(bundle, pool, state)
    return run(bundle, then or pool, first.state, NOW + 1)


def ann_and(*others):
    names = ("Ann", *others)
    jobs = [each for number, name in enumerate(names, 1) for each in jobs_of(name, 9, number)]
    return snapshot(SLOTS, jobs, submitters=[submitter(name) for name in names])


def test_a_ceiling_holds_in_cycles_faster_than_startds_report(tmp_path):
    bundle = write_bundle(tmp_path / "b", FAIR)
    result = second(bundle, ann_and(), state=accounts(bundle, ceiling=3))
    assert not result.matches
    (rejection,) = result.rejections
    assert (rejection.reason.code, rejection.reason.numbers) == ("ceiling", {"used": 3.0, "limit": 3})


def test_a_ceiling_holds_when_schedds_report_before_startds(tmp_path):
    """The jobs run already, and their slots still show no claim."""
    bundle = write_bundle(tmp_path / "b", FAIR)
    first = run(bundle, ann_and(), accounts(bundle, ceiling=3))
    on = {match.job: match.slot for match in first.matches}
    assert len(on) == 3
    running = [running_on(each, on.get(f"1.{number}")) for number, each in enumerate(jobs_of("Ann", 9, 1))]
    pool = snapshot(SLOTS, running, submitters=[submitter("Ann")])
    result = run(bundle, pool, first.state, NOW + 1)
    assert not result.matches
    assert [each.reason.numbers for each in result.rejections] == [{"used": 3.0, "limit": 3}]


def test_a_pool_without_slots_has_nothing_to_count(tmp_path):
    running = [running_on(each, "s0@h") for each in jobs_of("Ann", 2, 1)]
    pool = snapshot([], [*running, *jobs_of("Ann", 2, 2)], submitters=[submitter("Ann")])
    assert not run(write_bundle(tmp_path / "b", FAIR), pool).failures


def running_on(job_ad, name):
    """Return the ad of a job as its schedd has it once the job runs on a slot; as it is without one."""
    if name is None:
        return job_ad
    own = [(key, value) for key, value in job_ad.items() if key not in {"JobStatus", "RemoteHost"}]
    return Ad([*own, ("JobStatus", 2), ("RemoteHost", name)])


def test_the_account_has_the_name_as_its_schedd_writes_it(tmp_path):
    """Also once the submitter has no more idle jobs, so that no ad of it takes part."""
    bundle = write_bundle(tmp_path / "b", FAIR)
    result = second(
        bundle,
        snapshot(SLOTS, jobs_of("Ann", 2, 1), submitters=[submitter("Ann", 2)]),
        snapshot(SLOTS, submitters=[]),
    )
    rows = result.state.order_rows["submitters"]
    assert rows["account:Ann@d"]["WeightedResourcesUsed"] == 2.0
    assert "account:ann@d" not in rows


def test_a_floor_counts_what_was_matched(tmp_path):
    """Ann's second cycle begins at her floor, so that there is no round up to it."""
    bundle = write_bundle(tmp_path / "b", FAIR)
    result = second(bundle, ann_and("sue"), state=accounts(bundle, floor=2))
    assert [pie.floor_round for pie in result.order.pies] == [False]


@pytest.mark.parametrize("conf", ["", "NEGOTIATOR_CONSIDER_PREEMPTION = false\n"])
def test_a_group_quota_holds_in_cycles_faster_than_startds_report(tmp_path, conf):
    knobs = f"GROUP_NAMES = b\nGROUP_QUOTA_b = 4\n{conf}"
    bundle = write_bundle(tmp_path / "b", FAIR, conf=knobs)
    result = second(bundle, grouped_pool({"b.ann": 9}, SLOTS))
    assert not result.matches
    assert [each.reason.code for each in result.rejections] == ["group_quota"]


def test_the_slots_of_matches_are_part_of_what_is_divided(tmp_path):
    """Each has half of ten slots, of which Ann was matched with four."""
    bundle = write_bundle(tmp_path / "b", FAIR)
    alone = snapshot(SLOTS, jobs_of("Ann", 4, 1), submitters=[submitter("Ann", 4)])
    both = snapshot(
        SLOTS, [*jobs_of("Ann", 9, 3), *jobs_of("sue", 9, 2)], submitters=[submitter("Ann"), submitter("sue")]
    )
    assert shares(second(bundle, alone, both)) == {"ann": 1, "sue": 5}


def test_a_match_counts_once_when_its_claim_is_shown(tmp_path):
    bundle = write_bundle(tmp_path / "b", FAIR)
    pool = snapshot(SLOTS, jobs_of("Ann", 1, 1), submitters=[submitter("Ann", 1)])
    first = run(bundle, pool)
    taken = first.matches[0].slot
    state = attrs.evolve(
        first.state, journal=tuple(attrs.evolve(each, shown=True) for each in first.state.journal)
    )
    claimed = {
        "State": '"Claimed"',
        "RemoteUser": '"Ann@d"',
        "RemoteOwner": '"Ann@d"',
        "GlobalJobId": '"h#1.0#1"',
        "JobId": '"1.0"',
        "Cpus": "1",
    }
    slots = [slot(number, **(claimed if f"s{number}@h" == taken else {"Cpus": "1"})) for number in range(10)]
    result = run(bundle, snapshot(slots, []), state, NOW + 1)
    assert result.state.order_rows["submitters"]["account:Ann@d"]["WeightedResourcesUsed"] == 1.0


def test_several_matches_of_one_slot_have_a_part_of_it_each(tmp_path):
    """A slot with a consumption policy weighs no more than it does."""
    policy = {
        "PartitionableSlot": "true", "ConsumptionPolicy": "true", "Cpus": "4", "Memory": "400", "Disk": "400",
        "ConsumptionCpus": "TARGET.RequestCpus", "ConsumptionMemory": "1", "ConsumptionDisk": "1", "NumClaims": "3",
        "MachineResources": '"Cpus Memory Disk"',
    }  # fmt: skip
    bundle = write_bundle(tmp_path / "b", FAIR)
    pool = snapshot([slot(0, **policy)], jobs_of("Ann", 9, 1, RequestCpus="1"), submitters=[submitter("Ann")])
    first = run(bundle, pool)
    assert len(first.matches) > 1
    rows = run(bundle, pool, first.state, NOW + 1).state.order_rows["submitters"]
    assert rows["account:Ann@d"]["WeightedResourcesUsed"] == pytest.approx(4.0, abs=1e-5)


PREEMPTING = "PREEMPTION_REQUIREMENTS = true\n"


def shown(result):
    """Return the weight that each user uses, as condor_userprio shows it."""
    ads = account_ads(result.state.order_rows["submitters"], None)
    return {
        ad["Name"]: ad["WeightedResourcesUsed"]
        for ad in ads
        if ad.get("WeightedResourcesUsed") and not ad["IsAccountingGroup"]
    }


def slots_of(result, user):
    """Return the slots of a user by the records of the last cycle."""
    return [each.name for each in recorded_resources(result.state.order_rows["submitters"], user)]


def claimed_by(user):
    """Return the ad of a slot of eight cores that a user has claimed."""
    users = {"RemoteUser": f'"{user}@d"', "RemoteOwner": f'"{user}@d"', "JobId": '"9.0"'}
    own = {"State": '"Claimed"', "Cpus": "8", "Rank": "0.0", "CurrentRank": "0.0", "StartdIpAddr": '"<1:2>"'}
    return slot(0, **(own | users))


def test_a_slot_whose_job_a_match_ends_is_used_once(tmp_path):
    """By the user of the match when it is made; by the user that the slot shows as long as it shows the claim before."""
    bundle = write_bundle(tmp_path / "b", FAIR, conf=PREEMPTING)
    pool = snapshot([claimed_by("bob")], jobs_of("Ann", 1, 1), submitters=[submitter("Ann", 1)])
    first = run(bundle, pool)
    assert (shown(first), slots_of(first, "Ann@d")) == ({"Ann@d": 8.0}, ["s0@h@<1:2>"])
    later = run(bundle, snapshot([claimed_by("bob")], []), first.state, NOW + 1)
    assert (shown(later), slots_of(later, "bob@d")) == ({"bob@d": 8.0}, ["s0@h@<1:2>"])
    assert slots_of(later, "Ann@d") == []
    journal = tuple(attrs.evolve(each, shown=True) for each in later.state.journal)
    state = attrs.evolve(later.state, journal=journal)
    at_last = run(bundle, snapshot([claimed_by("Ann")], []), state, NOW + 2)
    assert shown(at_last) == {"Ann@d": 8.0}


def test_a_match_before_the_take_over_counts_and_keeps_its_slot(tmp_path):
    """The log of condor_negotiator has it, and its slot is still in state Matched."""
    record = {"s0@h@<1:2>": ResourceRecord("sue@d", 4.0, int(NOW) - 60, "licence")}
    records = record | {"s1@h@<1:2>": ResourceRecord("sue@d", 1.0, int(NOW) - 60)}
    imported = AccountsImport.of("log", Accounts(records={}, resources=records, last_update=int(NOW) - 60))
    bundle = write_bundle(tmp_path / "b", FAIR)
    empty = run(bundle, snapshot()).state
    rows = change_rows(empty.order_rows["submitters"], imported.to_text(), None, NOW).rows
    slots = [slot(number, StartdIpAddr='"<1:2>"', State='"Unclaimed"') for number in range(2)]
    slots[0] = slot(0, StartdIpAddr='"<1:2>"', State='"Matched"')
    pool = snapshot(slots, jobs_of("Ann", 9, 1), submitters=[submitter("Ann")])
    result = run(bundle, pool, attrs.evolve(empty, order_rows={"submitters": rows}))
    assert [match.slot for match in result.matches] == ["s1@h"]
    assert shown(result)["sue@d"] == 4.0
    assert resources_of(result.state.order_rows["submitters"], "sue@d") == record
    free = [slot(number, StartdIpAddr='"<1:2>"', State='"Unclaimed"') for number in range(2)]
    later = run(bundle, attrs.evolve(pool, slots=Table.from_ads(free)), result.state, NOW + 1)
    assert [match.slot for match in later.matches] == ["s0@h"]
    assert "sue@d" not in shown(later)


@pytest.mark.parametrize(
    "row",
    [
        {"Name": "Ann@d"},
        {"Name": "bob@d", "slots": []},
        {"Name": "Ann@d", "slots": [["s0@h@", 1.0]]},
        {"Name": "Ann@d", "slots": [["s0@h@", "1", None, ""]]},
    ],
)
def test_a_damaged_row_of_slots_is_left_out(row):
    with pytest.raises(ValueError, match=r"slots of a submitter|another submitter"):
        check_row("slots:Ann@d", row)
    assert recorded_resources({"slots:Ann@d": row, "slots": {"at": 1}}, "Ann@d") == []
