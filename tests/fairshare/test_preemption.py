"""Preemption under ``order: submitters``: which running jobs a match ends, and what the ledger and the records show."""

import attrs
import pytest

from fair_share import FAIR, jobs_of, submitter
from negotiator.audit.records import records_by_kind
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle, PreemptedJob
from negotiator.records import Station
from negotiator.runtime.usage import pool_usage
from pools import NOW, cycle, denials, job, slot, snapshot, write_bundle

ALLOWED = "PREEMPTION_REQUIREMENTS = true\n"
#: A licence of which one job at a time may have some; a claim holds it as long as its slot shows the job.
LICENCE = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_charges(request):
    yield Charge(("licence",), 1, 1, Quota(rule="licence", text="the licence"))
"""


def claimed(number, user, **more):
    own = {
        "State": '"Claimed"', "RemoteUser": f'"{user}@d"', "RemoteOwner": f'"{user}@d"',
        "JobId": f'"{number + 90}.0"', "CurrentRank": "0.0", "Rank": "0.0", "Cpus": "1",
    }  # fmt: skip
    return slot(number, **(own | more))


def waiting(name, count=1, **more):
    own = {"Owner": f'"{name}"', "User": f'"{name}@d"'}
    return [job(number, GlobalJobId=f'"h#1.{number}#1"', **(own | more)) for number in range(count)]


def pool(slots, jobs, *names):
    return snapshot(slots, jobs, submitters=[submitter(name) for name in names])


def run(tmp_path, found, conf="", plugins=None):
    return cycle(found, write_bundle(tmp_path / "b", FAIR, plugins=plugins, conf=conf))


def ended(result):
    return {match.slot: match.preempts for match in result.matches}


def codes(result):
    return {removal.reason.code for outcome in result.outcomes for removal in outcome.removals}


def test_no_running_job_is_ended_by_default(tmp_path):
    result = run(tmp_path, pool([claimed(0, "bob")], waiting("ann"), "ann"))
    assert not result.matches
    assert [each.reason for each in result.order.rejections] == ["PREEMPTION_REQUIREMENTS == False"]
    assert "preemption_requirements" in codes(result)


def test_the_pool_may_allow_to_end_jobs_of_other_users(tmp_path):
    result = run(tmp_path, pool([claimed(0, "bob")], waiting("ann"), "ann"), ALLOWED)
    assert ended(result) == {"s0@h": PreemptedJob("bob@d", "priority")}


@pytest.mark.parametrize("fixed", [False, True])
def test_empty_requirements_are_no_condition(tmp_path, fixed):
    """As in condor_negotiator: jobs of all others may be ended; a warning of it. The fix compares the priorities still."""
    switch = "compatible: {preemption_priority: fixed}\n" if fixed else ""
    bundle = write_bundle(tmp_path / "b", FAIR + switch, conf="PREEMPTION_REQUIREMENTS =\n")
    (warning,) = map(str, bundle.problems)
    assert "PREEMPTION_REQUIREMENTS has no value: no condition protects the jobs of other users" in warning
    result = cycle(pool([claimed(0, "nice-user.bob")], waiting("ann"), "ann"), bundle)
    assert ended(result) == {"s0@h": PreemptedJob("nice-user.bob@d", "priority")}
    equal = cycle(pool([claimed(0, "bob")], waiting("ann"), "ann"), bundle)
    assert bool(equal.matches) is not fixed


def test_empty_ranks_are_the_same_for_all_slots(tmp_path):
    """The order of the pool then decides, and the jobs' own Rank before it."""
    conf = "NEGOTIATOR_PRE_JOB_RANK =\nNEGOTIATOR_POST_JOB_RANK =\nPREEMPTION_RANK =\nPREEMPTION_REQUIREMENTS = true\n"
    slots = [slot(0, Cpus="8", KFlops="1"), slot(1, Cpus="1", KFlops="9")]
    assert set(ended(run(tmp_path, pool(slots, waiting("ann"), "ann"), conf))) == {"s0@h"}
    taken = [claimed(0, "eve"), claimed(1, "nice-user.bob")]
    assert set(ended(run(tmp_path / "2", pool(taken, waiting("ann"), "ann"), conf))) == {"s0@h"}


def test_a_submitter_never_ends_its_own_job_by_priority(tmp_path):
    result = run(tmp_path, pool([claimed(0, "Ann")], waiting("ann"), "ann"), ALLOWED)
    assert not result.matches
    assert "runs_own_job" in codes(result)


def test_a_slot_that_prefers_a_job_takes_it_from_any_user(tmp_path):
    result = run(tmp_path, pool([claimed(0, "ann", Rank="TARGET.Wanted")], waiting("ann", Wanted="5"), "ann"))
    assert ended(result) == {"s0@h": PreemptedJob("ann@d", "rank")}


def test_a_slot_that_likes_its_job_more_keeps_it(tmp_path):
    liked = claimed(0, "bob", Rank="1", CurrentRank="2")
    result = run(tmp_path, pool([liked], waiting("ann"), "ann"), ALLOWED)
    assert not result.matches
    assert "slot_rank" in codes(result)


def test_free_slots_come_first(tmp_path):
    conf = ALLOWED + "NEGOTIATOR_PRE_JOB_RANK = 0\nNEGOTIATOR_POST_JOB_RANK = 0\n"
    result = run(tmp_path, pool([claimed(0, "bob"), slot(1, Cpus="1")], waiting("ann"), "ann"), conf)
    assert ended(result) == {"s1@h": None}


@pytest.mark.parametrize("name", ["SubmitterUserPrio", "SubmittorPrio"])
def test_the_policy_reads_the_priorities_of_both_users(tmp_path, name):
    """condor_negotiator publishes that of the submitter by its old name, too (matchmaker.cpp)."""
    conf = f"PREEMPTION_REQUIREMENTS = RemoteUserPrio > TARGET.{name} * 1.2\n"
    nice = claimed(0, "nice-user.bob")
    result = run(tmp_path, pool([nice, claimed(1, "eve")], waiting("ann", 2), "ann"), conf)
    assert set(ended(result)) == {"s0@h"}


@pytest.mark.parametrize("name", ["SubmitterUserPrio", "SubmittorPrio"])
def test_a_job_cannot_claim_a_priority(tmp_path, name):
    conf = f"PREEMPTION_REQUIREMENTS = TARGET.{name} < 1\n"
    assert not run(tmp_path, pool([claimed(0, "bob")], waiting("ann", **{name: "0"}), "ann"), conf).matches


@pytest.mark.parametrize(
    ("conf", "code"),
    [
        (ALLOWED + "NEGOTIATOR_CONSIDER_PREEMPTION = false\n", "in_use"),
        (ALLOWED, "retirement"),
    ],
)
def test_slots_are_withheld_by_knobs(tmp_path, conf, code):
    slots = [claimed(0, "bob", RetirementTimeRemaining="60")]
    result = run(tmp_path, pool(slots, waiting("ann"), "ann"), conf)
    assert not result.matches
    assert code in codes(result)


def test_early_preemption_does_not_wait_for_retirement(tmp_path):
    conf = ALLOWED + "NEGOTIATOR_CONSIDER_EARLY_PREEMPTION = true\n"
    slots = [claimed(0, "bob", RetirementTimeRemaining="60")]
    assert run(tmp_path, pool(slots, waiting("ann"), "ann"), conf).matches


def test_a_match_releases_what_the_job_that_it_ends_was_charged(tmp_path):
    plugins = {"licence": LICENCE}
    result = run(tmp_path, pool([claimed(0, "bob")], waiting("ann"), "ann"), ALLOWED, plugins)
    assert set(ended(result)) == {"s0@h"}
    assert dict(result.ledger.counters()) == {("licence", "licence"): 1}


def test_a_free_slot_has_no_charge_to_release(tmp_path):
    conf = ALLOWED + "NEGOTIATOR_PRE_JOB_RANK = 0\n"
    slots = [slot(1, Cpus="1"), claimed(0, "bob")]
    result = run(tmp_path, pool(slots, waiting("ann", 2), "ann"), conf, {"licence": LICENCE})
    assert set(ended(result)) == {"s0@h"}  # the better slot would be one licence too many
    assert {code for code, *_ in denials(result)} == {"quota"}


@pytest.mark.parametrize(
    ("conf", "ends"),
    [("", False), ("NEGOTIATOR_CROSS_SLOT_PRIOS = true\n", True), (
        "NEGOTIATOR_CROSS_SLOT_PRIOS = true\nSTARTD_RESOURCE_PREFIX = vm\n", False
    )],
)  # fmt: skip
def test_slots_show_the_accounts_of_the_users_of_all_slots_of_their_machine(tmp_path, conf, ends):
    """As far as their startd advertises these users (STARTD_SLOT_ATTRS)."""
    shown = {"slot2_RemoteUser": '"nice-user.eve@d"', "TotalSlots": "2", "slot3_RemoteUser": '"eve@d"'}
    rule = "slot2_RemoteUserPrio > 1e9 && slot2_RemoteUserResourcesInUse == 0 && slot3_RemoteUserPrio =?= undefined"
    found = pool([claimed(0, "bob", **shown)], waiting("ann"), "ann")
    assert bool(run(tmp_path, found, f"{conf}PREEMPTION_REQUIREMENTS = {rule}\n").matches) is ends


def test_records_say_whose_job_a_match_ends(tmp_path):
    bundle = write_bundle(tmp_path / "b", FAIR, conf=ALLOWED)
    result = cycle(pool([claimed(0, "bob")], waiting("ann"), "ann"), bundle)
    (record,) = records_by_kind(result)["match"]
    assert record["preempts"] == {"user": "bob@d", "by": "priority"}


def test_what_only_the_rank_of_slots_reads_of_jobs_decides(tmp_path):
    """The pool's own ranks read nothing of the job here."""
    slots = [claimed(0, "bob", Rank="TARGET.JobPrio"), claimed(1, "bob")]
    conf = "NEGOTIATOR_PRE_JOB_RANK = 0\n"
    result = run(tmp_path, pool(slots, waiting("ann", JobPrio="3"), "ann"), conf)
    assert list(ended(result)) == ["s0@h"]


def test_what_only_the_policy_of_preemption_reads_of_jobs_decides(tmp_path):
    slots = [claimed(0, "bob"), claimed(1, "bob")]
    conf = "NEGOTIATOR_PRE_JOB_RANK = 0\nPREEMPTION_REQUIREMENTS = TARGET.Urgent\n"
    result = run(tmp_path, pool(slots, waiting("ann", Urgent="true"), "ann"), conf)
    assert len(result.matches) == 1


CONCURRENCY = "concurrency_limits: {lic: 1}\nconcurrency_limits_compatible: "


@pytest.mark.parametrize(("compatible", "matched"), [("exact", 0), ("fixed", 1)])
def test_a_concurrency_limit_of_the_job_that_ends_is_free_in_the_next_cycle(tmp_path, compatible, matched):
    """As in condor_negotiator; ``fixed`` gives it to the match at once."""
    slots = [claimed(0, "bob", ConcurrencyLimits='"lic"')]
    bundle = write_bundle(tmp_path / "b", f"{FAIR}{CONCURRENCY}{compatible}\n", conf=ALLOWED)
    jobs = waiting("ann", ConcurrencyLimits='"lic"')
    result = cycle(pool(slots, jobs, "ann"), bundle)
    assert len(result.matches) == matched


@pytest.mark.parametrize(
    ("compatible", "shared", "matched"), [("exact", False, 1), ("exact", True, 0), ("fixed", False, 0)]
)
def test_limits_that_are_held_outside_of_the_slot_constraint_count_where_others_share_them(
    tmp_path, compatible, shared, matched
):
    """condor_negotiator does not read those slots; several negotiators of one pool count all claims."""
    slots = [claimed(0, "bob", ConcurrencyLimits='"lic"', Part='"south"'), slot(1, Part='"north"')]
    conf = 'NEGOTIATOR_SLOT_CONSTRAINT = MY.Part == "north"\n'
    bundle = write_bundle(tmp_path / "b", f"{FAIR}{CONCURRENCY}{compatible}\n", conf=conf)
    state = attrs.evolve(CycleState.new(bundle, NOW), shared=shared)
    found = pool(slots, waiting("ann", ConcurrencyLimits='"lic"'), "ann")
    result = run_cycle(found, bundle, Cycle(1, NOW, bundle.digest), state)
    assert len(result.matches) == matched
    used = pool_usage(found, bundle, state, NOW).of("condor").sums.get(("lic",), 0)
    assert used == (0 if matched else 1_000_000)


@pytest.mark.parametrize(("considered", "matched"), [("true", 1), ("false", 0)])
def test_a_claimed_slot_without_a_user_is_free_where_preemption_is_considered(tmp_path, considered, matched):
    """As in condor_negotiator, which then looks for a user and not at the State."""
    slots = [claimed(0, "bob", RemoteUser=None, RemoteOwner=None)]
    conf = f"NEGOTIATOR_CONSIDER_PREEMPTION = {considered}\n"
    result = run(tmp_path, pool(slots, waiting("ann"), "ann"), conf)
    assert len(result.matches) == matched
    assert all(match.preempts is None for match in result.matches)


@pytest.mark.parametrize("scope", ["", "MY."])
def test_what_the_user_of_a_slot_uses_is_what_it_uses_when_slots_are_looked_at(tmp_path, scope):
    """Bob uses one slot when the cycle begins, and a second one when it is the turn of the other submitter."""
    free = slot(1, Cpus="1", Requirements='TARGET.Owner == "bob"')
    whole = slot(2, Cpus="9", Requirements="false")  # part of the pie, so that shares last
    slots = [claimed(0, "bob", Requirements='TARGET.Owner != "bob"'), free, whole]
    jobs = [*jobs_of("nice-user.ann", 1, 1), *jobs_of("bob", 1, 2)]
    conf = f"PREEMPTION_REQUIREMENTS = {scope}RemoteUserResourcesInUse >= 2\n"
    result = run(tmp_path, pool(slots, jobs, "nice-user.ann", "bob"), conf)
    assert ended(result) == {"s1@h": None, "s0@h": PreemptedJob("bob@d", "priority")}


def test_a_slot_that_is_matched_again_releases_what_its_job_was_charged_once(tmp_path):
    """The ad of the slot stays for further requests, and no match with it needs a claim id."""
    staying = claimed(0, "bob", WantAdRevaluate="true", WantClaiming="false")
    slots = [staying, claimed(1, "bob"), claimed(2, "bob")]
    plugins = {"licence": LICENCE.replace('("licence",), 1, 1,', '("licence",), 1, 3,')}
    result = run(tmp_path, pool(slots, waiting("ann", 9), "ann"), ALLOWED, plugins)
    assert dict(result.ledger.counters())[("licence", "licence")] == 3
    assert [match.slot for match in result.matches].count("s0@h") == 1


@pytest.mark.parametrize(
    ("knobs", "number"),
    [
        ("", 3),
        ("PREEMPTION_RANK_STABLE = false\n", 3),
        ("NEGOTIATOR_MATCHLIST_CACHING = false\n", 2),
        ("PREEMPTION_REQUIREMENTS_STABLE = false\n", 2),
    ],
)
def test_preemption_requirements_are_evaluated_when_candidates_are_listed(tmp_path, knobs, number):
    """The matches made since count only if no list is kept, or if the list is not used once they are false."""
    conf = f"PREEMPTION_REQUIREMENTS = TARGET.SubmitterUserResourcesInUse < 2\n{knobs}"
    others = [slot(each, Cpus="1", Requirements="false") for each in range(5, 9)]  # make the share larger
    slots = [*(claimed(each, "bob") for each in range(3)), *others]
    result = run(tmp_path, pool(slots, waiting("ann", 3), "ann"), conf)
    assert len(ended(result)) == number


def test_depth_first_evaluates_preemption_requirements_for_a_list_too(tmp_path):
    """A list is made once for jobs alike, though slots are filled one after the other."""
    conf = (
        "PREEMPTION_REQUIREMENTS = TARGET.SubmitterUserResourcesInUse < 2\n"
        "NEGOTIATOR_DEPTH_FIRST = true\nNEGOTIATOR_PRE_JOB_RANK = -Cpus\n"
    )
    slots = [claimed(number, "bob", Cpus=cpus, Memory="9999") for number, cpus in enumerate("114")]
    result = run(tmp_path, pool(slots, waiting("ann", 6, RequestCpus="1", RequestMemory="1"), "ann"), conf)
    assert len(ended(result)) == 3


@pytest.mark.parametrize(
    ("knobs", "order"),
    [
        ("", ["s0@h", "s1@h", "s2@h"]),
        ("PREEMPTION_REQUIREMENTS_STABLE = false\n", ["s0@h", "s1@h", "s2@h"]),
        ("PREEMPTION_RANK_STABLE = false\n", ["s0@h", "s2@h", "s1@h"]),
    ],
)
def test_candidates_are_listed_anew_when_the_rank_of_preemption_changed(tmp_path, knobs, order):
    """After the first match the other jobs are better to end."""
    rank = "PREEMPTION_RANK = TARGET.SubmitterUserResourcesInUse > 0 ? SlotID : -SlotID\n"
    others = [slot(each, Cpus="1", Requirements="false") for each in range(5, 9)]  # make the share larger
    slots = [*(claimed(each, "bob", SlotID=str(each)) for each in range(3)), *others]
    result = run(tmp_path, pool(slots, waiting("ann", 3), "ann"), ALLOWED + rank + knobs)
    assert [match.slot for match in result.matches] == order


@pytest.mark.parametrize(
    ("requirements", "turns"), [("RemoteUserPrio > 0", 1), ("TARGET.SubmitterUserResourcesInUse < 9", 3)]
)
def test_jobs_are_matched_one_by_one_only_if_a_match_may_change_the_requirements(
    tmp_path, requirements, turns
):
    """Jobs alike are served in one turn otherwise."""
    conf = f"PREEMPTION_REQUIREMENTS = {requirements}\nPREEMPTION_REQUIREMENTS_STABLE = false\n"
    slots = [claimed(each, "bob") for each in range(3)]
    bundle, seen = write_bundle(tmp_path / "b", FAIR, conf=conf), []
    result = cycle(pool(slots, waiting("ann", 3), "ann"), bundle, watch=seen.append)
    assert len(result.matches) == 3
    assert [each.station for each in seen].count(Station.MATCH) == turns


def test_with_unstable_requirements_a_list_that_is_used_up_is_made_anew(tmp_path):
    """Slots that PREEMPTION_REQUIREMENTS protected at first are found once a match was made."""
    conf = "PREEMPTION_REQUIREMENTS = TARGET.SubmitterUserResourcesInUse > 0\n"
    slots = [slot(9, Cpus="1"), *(claimed(each, "bob") for each in range(2))]
    found = pool(slots, waiting("ann", 3), "ann")
    assert len(run(tmp_path / "kept", found, conf).matches) == 1
    assert len(run(tmp_path / "anew", found, conf + "PREEMPTION_REQUIREMENTS_STABLE = false\n").matches) == 3


SCORE = """
import numpy as np
from negotiator.plugin import Score, hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_score_slots(slots):
    yield Score("newest", np.arange(len(slots), dtype=float))
"""


@pytest.mark.parametrize("rank", ["0", "ifThenElse(TARGET.Cpus > 1, 5, 0)"])
def test_a_score_of_a_plugin_ends_no_job_while_a_slot_is_free(tmp_path, rank):
    slots = [claimed(0, "bob"), slot(1), claimed(2, "bob", Cpus="2"), claimed(3, "bob")]
    found = pool(slots, waiting("ann", Rank=rank), "ann")
    result = run(tmp_path, found, ALLOWED, plugins={"score": SCORE})
    assert ended(result) == {"s1@h": None}


def test_among_running_jobs_the_score_decides_which_is_ended(tmp_path):
    found = pool([claimed(number, "bob") for number in range(3)], waiting("ann"), "ann")
    result = run(tmp_path, found, ALLOWED, plugins={"score": SCORE})
    assert ended(result) == {"s2@h": PreemptedJob("bob@d", "priority")}
