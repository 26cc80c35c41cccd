"""The reasons of requests that had no turn under ``order: submitters``."""

import pytest

from fair_share import FAIR, jobs_of, run, submitter
from pools import slot, snapshot, write_bundle

SLOTS = [slot(number, Cpus="1") for number in range(10)]
#: No submitter gets more than its share in further spins: each weighs more than what is left.
HEAVY = [slot(number, Cpus="6") for number in range(3)]


def reasons(result):
    """Return the reason of each request without a turn, by submitter without domain."""
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
    jobs = [*jobs_of("ann", 9, 1), *jobs_of("sue", 9, 2, AccountingGroup='"b.sue@d"')]
    ads = [submitter("ann", 4), submitter("b.sue")]
    knobs = "GROUP_NAMES = b\nGROUP_QUOTA_b = 0\n"
    found = reasons(cycle(snapshot(SLOTS, jobs, submitters=ads), knobs))["b.sue"]
    assert (found.code, found.numbers) == ("nothing_allocated", {"used": 0.0, "limit": 0.0})
    assert found.text == "group b is allocated no slots in this cycle: it uses 0 of 0"


def test_a_pool_without_a_slot_left(cycle):
    jobs = [*jobs_of("ann", 3, 1), *jobs_of("sue", 3, 2)]
    found = reasons(cycle(snapshot([slot(0, Cpus="1"), slot(1, State='"Claimed"')], jobs)))
    assert found["sue"].code == "taken"


def test_an_ad_without_numbers_of_jobs_has_those_of_the_jobs_read(cycle):
    """Ads written by hand name the submitter and nothing else."""
    ads = [submitter(name, IdleJobs=None, RunningJobs=None) for name in ("ann", "sue")]
    pool = snapshot(SLOTS, [*jobs_of("ann", 9, 1), *jobs_of("sue", 2, 2)], submitters=ads)
    assert len(cycle(pool).matches) == 10
