"""The reasons of requests that had no turn, or no more slots, under ``order: submitters``."""

import attrs
import pytest

from fair_share import FAIR, grouped_pool, jobs_of, run, submitter
from negotiator_fairshare.accounts import AccountRecord, Accounts
from negotiator_fairshare.accounts.state_rows import rows_of
from pools import slot, snapshot, write_bundle

SLOTS = [slot(number, Cpus="1") for number in range(10)]
#: No submitter gets more than its share in further spins: each weighs more than what is left.
HEAVY = [slot(number, Cpus="6") for number in range(3)]


def reasons(result):
    """Return the reason of each request that was not served, by submitter without domain."""
    return {each.submitter.partition("@")[0]: each.reason for each in result.rejections}


@pytest.fixture
def cycle(tmp_path):
    return lambda pool, conf="", more="": run(write_bundle(tmp_path / "b", FAIR + more, conf=conf), pool)


def test_a_submitter_without_an_ad(cycle):
    jobs = [*jobs_of("ann", 2, 1), *jobs_of("sue", 3, 2)]
    (found,) = reasons(cycle(snapshot(SLOTS, jobs, submitters=[submitter("ann", 2)]))).values()
    assert (found.code, found.verdict, found.provenance.station) == ("no_submitter", "waiting", "order")
    assert found.provenance.plugin == "fairshare"


def test_a_submitter_whose_ad_has_no_idle_jobs(cycle):
    ads = [submitter("ann", 2), submitter("sue", 0, RunningJobs="1")]
    found = reasons(cycle(snapshot(SLOTS, [*jobs_of("ann", 2, 1), *jobs_of("sue", 3, 2)], submitters=ads)))
    assert found["sue"].code == "no_idle_jobs"


def test_a_submitter_without_a_share_left(cycle):
    """Ann's first slot is rounded up: it weighs more than what is divided."""
    jobs = [*jobs_of("ann", 1, 1), *jobs_of("sue", 1, 2), *jobs_of("tim", 1, 3)]
    slots = [
        slot(0, Cpus="1"),
        slot(1, Cpus="1", Requirements="false"),
        slot(2, Cpus="1", Requirements="false"),
    ]
    result = cycle(snapshot(slots, jobs), conf="NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT = SlotID =?= 7\n")
    assert {each.code for each in reasons(result).values()} == {"share_used"}


def test_a_group_without_a_share_of_the_pool(cycle):
    """The reason has the use of the group and its quota."""
    jobs = [*jobs_of("ann", 9, 1), *jobs_of("sue", 9, 2, AccountingGroup='"b.sue"')]
    ads = [submitter("ann", 4), submitter("b.sue")]
    knobs = "GROUP_NAMES = b\nGROUP_QUOTA_b = 0\n"
    found = reasons(cycle(snapshot(SLOTS, jobs, submitters=ads), knobs))["b.sue"]
    assert (found.code, found.numbers) == ("nothing_allocated", {"used": 0.0, "limit": 0.0})
    assert found.text == "group b is allocated no slots in this cycle: it uses 0 of 0 weighted slots"


def limited(tmp_path, pool, ceiling, conf=""):
    """Return the reasons of a cycle in which Ann has this ceiling."""
    bundle = write_bundle(tmp_path / "limited", FAIR, conf=conf)
    rows = rows_of(Accounts(records={"ann@d": AccountRecord(ceiling=ceiling)}))
    state = attrs.evolve(run(bundle, snapshot()).state, order_rows={"submitters": rows})
    return reasons(run(bundle, pool, state))


def running(number, user):
    """Return a slot that runs a job of a user."""
    return slot(number, Cpus="1", State='"Claimed"', RemoteUser=f'"{user}@d"')


def shown(found):
    return found.code, found.text, dict(found.numbers)


@pytest.mark.parametrize("conf", ["", "NEGOTIATOR_CONSIDER_PREEMPTION = false\n"])
def test_jobs_beyond_a_share_have_its_use_and_its_limit(cycle, conf):
    """Slots are left: each third of the pool is 3.33, and the rest of a slot is not rounded up."""
    jobs = [each for number, name in enumerate(("ann", "sue", "tim")) for each in jobs_of(name, 9, number)]
    found = reasons(cycle(snapshot(SLOTS, jobs), conf))
    text = "ann@d has used its share of the pool in this cycle: it uses 3 of 3.33 weighted slots"
    assert shown(found["ann"]) == ("share_used", text, {"used": 3.0, "limit": pytest.approx(10 / 3)})


@pytest.mark.parametrize("conf", ["", "NEGOTIATOR_CONSIDER_PREEMPTION = false\n"])
@pytest.mark.parametrize("use", [0, 2, 4])
def test_jobs_beyond_a_ceiling_have_its_use_and_its_limit(tmp_path, conf, use):
    """Also if the ceiling was set below what is in use."""
    slots = [*(running(number, "ann") for number in range(use)), *SLOTS[use:]]
    found = limited(tmp_path, snapshot(slots, jobs_of("ann", 9, 1)), 3, conf)
    used = max(use, 3)
    text = f"ann@d has reached its ceiling: it uses {used} of 3 weighted slots"
    assert shown(found["ann"]) == ("ceiling", text, {"used": used, "limit": 3})


def test_every_request_of_a_submitter_has_its_reason(tmp_path):
    """One with a turn that its ceiling ended, and one that had none after it."""
    jobs = [*jobs_of("ann", 4, 1), *jobs_of("ann", 4, 2, RequestMemory="2")]
    bundle = write_bundle(tmp_path / "b", FAIR)
    rows = rows_of(Accounts(records={"ann@d": AccountRecord(ceiling=3)}))
    state = attrs.evolve(run(bundle, snapshot()).state, order_rows={"submitters": rows})
    result = run(bundle, snapshot(SLOTS, jobs), state)
    assert [each.reason.code for each in result.rejections] == ["ceiling", "ceiling"]


@pytest.mark.parametrize("conf", ["", "NEGOTIATOR_CONSIDER_PREEMPTION = false\n"])
def test_jobs_beyond_the_quota_of_their_group_have_its_use_and_its_limit(cycle, conf):
    """Sue's jobs too, who has nothing of it."""
    knobs = f"GROUP_NAMES = b\nGROUP_QUOTA_b = 4\n{conf}"
    slots = [*(running(number, "b.ann") for number in range(4)), *SLOTS[4:]]
    found = reasons(cycle(grouped_pool({"b.ann": 9, "b.sue": 9}, slots), knobs))
    text = "group b has reached its quota: it uses 4 of 4 weighted slots"
    assert {shown(each)[1] for each in found.values()} == {text}
    assert found["b.ann"].numbers == {"used": 4.0, "limit": 4.0}


def test_the_quota_of_a_group_above_is_named(cycle):
    knobs = "GROUP_NAMES = b, b.c\nGROUP_QUOTA_b = 2\nGROUP_QUOTA_b.c = 4\nGROUP_ACCEPT_SURPLUS_b.c = true\n"
    found = reasons(cycle(grouped_pool({"b.c.ann": 9}, SLOTS), knobs))
    text = "group b has reached its quota, of which group b.c is a part: it uses 2 of 2 weighted slots"
    assert shown(found["b.c.ann"])[:2] == ("group_quota", text)


def test_a_group_beyond_its_quota_has_used_its_surplus(cycle):
    """Tim wants six slots that no other one may have in the first round."""
    knobs = (
        "GROUP_NAMES = b\nGROUP_QUOTA_b = 2\nGROUP_ACCEPT_SURPLUS_b = true\n"
        "GROUP_QUOTA_MAX_ALLOCATION_ROUNDS = 1\n"
    )
    jobs = [*jobs_of("sue", 9, 1, AccountingGroup='"b.sue"'), *jobs_of("tim", 6, 2, Requirements="false")]
    ads = [submitter("b.sue"), submitter("tim", 6)]
    found = reasons(cycle(snapshot(SLOTS, jobs, submitters=ads), knobs))["b.sue"]
    text = "group b has used its quota and its surplus: it uses 4 of 4 weighted slots"
    assert shown(found) == ("group_quota", text, {"used": 4.0, "limit": 4.0})


def test_without_slot_weights_the_numbers_are_slots(tmp_path):
    slots = [slot(number, Cpus="4") for number in range(9)]
    found = limited(
        tmp_path, snapshot(slots, jobs_of("ann", 9, 1)), 2, "NEGOTIATOR_USE_SLOT_WEIGHTS = false\n"
    )
    assert found["ann"].text == "ann@d has reached its ceiling: it uses 2 of 2 slots"


def test_jobs_that_no_slot_suits_have_that_reason_beyond_a_limit_too(tmp_path):
    jobs = [*jobs_of("ann", 4, 1), *jobs_of("ann", 4, 2, Requirements="TARGET.Cpus == 99")]
    bundle = write_bundle(tmp_path / "b", FAIR)
    slots = [running(0, "tim"), *SLOTS[1:4]]
    pool = snapshot(slots, [*jobs, *jobs_of("sue", 1, 3)], submitters=[submitter("ann"), submitter("sue", 1)])
    codes = {each.first_job: each.reason.code for each in run(bundle, pool).rejections}
    assert codes["2.0"] == "job_requirements"


def test_a_pool_without_a_slot_left(cycle):
    jobs = [*jobs_of("ann", 3, 1), *jobs_of("sue", 3, 2)]
    found = reasons(cycle(snapshot([slot(0, Cpus="1"), slot(1, State='"Claimed"')], jobs)))
    assert found["sue"].code == "taken"


def test_an_ad_without_numbers_of_jobs_has_those_of_the_jobs_read(cycle):
    """Ads written by hand name the submitter and nothing else."""
    ads = [submitter(name, IdleJobs=None, RunningJobs=None) for name in ("ann", "sue")]
    pool = snapshot(SLOTS, [*jobs_of("ann", 9, 1), *jobs_of("sue", 2, 2)], submitters=ads)
    assert len(cycle(pool).matches) == 10
