"""JobDecisions on one snapshot are compared with what another negotiator did until the next: no difference is claimed that is none."""

import attrs
import pytest

from negotiator.explain.shadow import Cause, DifferenceKind, JobDecisions, Observation, ShadowTotals, compare
from negotiator.records import Problem, Severity, Source
from pools import NOW, ad, cycle, snapshot, write_bundle
from pools import slot as made_slot

SINCE, LATER = int(NOW - 100), int(NOW + 20)
GATE = {"conf": 'NEGOTIATOR_JOB_CONSTRAINT = MY.Owner =!= "bob"\n'}


def job(number, owner="ann", status=1, slot=None, **changed):
    """Return a job of the schedd ``s``; with a slot it runs there, since a moment after the first snapshot."""
    own = {
        "ClusterId": str(number),
        "ProcId": "0",
        "JobStatus": str(status),
        "Requirements": "true",
        "Owner": f'"{owner}"',
        "User": f'"{owner}@d"',
        "GlobalJobId": f'"s#{number}.0#1"',
        "AutoClusterId": f"{1 if owner == 'ann' else 2}",
        "ServerTime": str(int(NOW)),
    }
    if slot is not None:
        own |= {"JobStatus": "2", "RemoteHost": f'"{slot}"', "JobCurrentStartDate": str(LATER)}
    return ad(**(own | changed))


def rejected(number, owner="ann", reason="no match found", at=LATER):
    return job(number, owner, LastRejMatchTime=str(at), LastRejMatchReason=f'"{reason}"')


def free(number=0, **changed):
    return made_slot(number, **({"EnteredCurrentState": str(SINCE)} | changed))


def used(number=0, by="ann@d", since=LATER, **changed):
    return free(
        number, State='"Claimed"', RemoteUser=f'"{by}"', **({"EnteredCurrentState": str(since)} | changed)
    )


def partitionable(cpus=4, since=SINCE, **changed):
    more = {
        "Name": '"slot1@h"',
        "Cpus": str(cpus),
        "PartitionableSlot": "true",
        "NumDynamicSlotsTime": str(since),
    }
    return free(**(more | changed))


def part(number, cpus=1, **changed):
    return used(Name=f'"slot1_{number}@h"', Cpus=str(cpus), Memory="1", DynamicSlot="true", **changed)


def submitters(*names, idle=9):
    return [
        ad(MyType='"Submitter"', Name=f'"{name}@d"', ScheddName='"s"', IdleJobs=str(idle))
        for name in names or ("ann", "bob")
    ]


@pytest.fixture
def report(tmp_path):
    """Return a function: the report on a cycle over some slots and jobs, given those of the next snapshot."""

    def make(before, after, ads=None, **bundle):
        pool = snapshot(*before, submitters=ads or submitters())
        result = cycle(pool, write_bundle(tmp_path / "bundle", **bundle) if bundle else None)
        return compare(
            JobDecisions.of(result),
            Observation.of(pool, NOW),
            Observation.of(snapshot(*after, submitters=submitters()), NOW + 60),
        )

    return make


def counts(report):
    return (
        report.same_slot,
        report.other_slot,
        report.same_idle,
        len(report.differences),
        report.not_comparable,
    )


SAME = {
    "the same slot": (([free()], [job(1)]), ([used()], [job(1, slot="s0@h")]), (1, 0, 0, 0, {})),
    "another slot": (
        ([free(0), free(1)], [job(1)]),
        ([free(0), used(1)], [job(1, slot="s1@h")]),
        (0, 1, 0, 0, {}),
    ),
    "a part of the same slot": (
        ([partitionable()], [job(1)]),
        ([partitionable(3, LATER), part(1)], [job(1, slot="slot1_1@h")]),
        (1, 0, 0, 0, {}),
    ),
    "both without a slot": (
        ([free()], [job(1), job(2)]),
        ([used()], [job(1, slot="s0@h"), rejected(2)]),
        (1, 0, 1, 0, {}),
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), SAME.values(), ids=SAME)
def test_equal_decisions_are_no_differences(report, before, after, expected):
    found = report(before, after)
    assert counts(found) == expected
    assert (found.since, found.until) == (NOW, NOW + 60)


ONE = ([free()], [job(1)])
NOT_COMPARABLE = {
    "the job left the queue": (ONE, ([free()], []), Cause.LEFT),
    "the job is held": (ONE, ([free()], [job(1, status=5)]), Cause.LEFT),
    "nobody decided": (ONE, ([free()], [job(1)]), Cause.NOT_CONSIDERED),
    "without a slot of ours, nobody decided": (([], [job(1)]), ([], [job(1)]), Cause.NOT_CONSIDERED),
    "rejected before our snapshot": (ONE, ([free()], [rejected(1, at=SINCE)]), Cause.NOT_CONSIDERED),
    "it ran and is idle again": (
        ONE,
        ([free()], [job(1, JobCurrentStartDate=str(LATER))]),
        Cause.RAN_BETWEEN,
    ),
    "a claim that the schedd had": (
        ([used(since=SINCE)], [job(1)]),
        ([used(since=SINCE)], [job(1, slot="s0@h")]),
        Cause.CLAIM_REUSED,
    ),
    "a claim made since, for an earlier job": (
        ONE,
        ([used(since=LATER - 15)], [job(1, slot="s0@h")]),
        Cause.CLAIM_REUSED,
    ),
    "a claim made before our snapshot": (
        ONE,
        ([used(since=int(NOW))], [job(1, slot="s0@h")]),
        Cause.MATCHED_BEFORE,
    ),
    "a slot that was used in our snapshot": (
        ([used(since=SINCE)], [job(1)]),
        ([used()], [job(1, slot="s0@h")]),
        Cause.SLOT_FREED_LATER,
    ),
    "a partitionable slot that had less": (
        ([partitionable(cpus=1), partitionable(4, Name='"slot2@h"')], [job(1)]),
        ([partitionable(0, LATER), part(1, cpus=2)], [job(1, slot="slot1_1@h")]),
        Cause.SLOT_FREED_LATER,
    ),
    "a slot that was not in our snapshot": (
        ([], [job(1)]),
        ([used()], [job(1, slot="s0@h")]),
        Cause.SLOT_UNKNOWN,
    ),
    "our slot went to a new job": (
        ONE,
        ([used()], [rejected(1), job(9, slot="s0@h")]),
        Cause.NEWER_JOB,
    ),
    "our slot was used in between": (
        ONE,
        ([free(EnteredCurrentState=str(LATER))], [rejected(1)]),
        Cause.SLOT_CHANGED,
    ),
    "our slot is gone": (ONE, ([], [rejected(1)]), Cause.SLOT_CHANGED),
}


@pytest.mark.parametrize(("before", "after", "cause"), NOT_COMPARABLE.values(), ids=NOT_COMPARABLE)
def test_what_does_not_follow_from_our_snapshot_is_not_compared(report, before, after, cause):
    found = report(before, after)
    assert counts(found) == (0, 0, 0, 0, {cause: 1})
    assert found.examples == {cause: ["1.0"]}


@pytest.mark.parametrize("ads", [submitters("ann"), submitters("bob", idle=0)])
def test_a_submitter_that_is_not_advertised_yet_is_not_compared(report, ads):
    """Its ad is missing, or older than its idle jobs."""
    found = report(([free()], [job(1, "bob")]), ([used()], [job(1, "bob", slot="s0@h")]), ads=ads)
    assert found.not_comparable == {Cause.NOT_ADVERTISED: 1}


def test_further_jobs_on_the_parts_of_a_matched_slot_are_the_schedds(report):
    """One match serves as many jobs of the submitter as fit."""
    before = [partitionable()], [job(1), job(2)]
    after = [partitionable(2, LATER), part(1), part(2)], [job(1, slot="slot1_1@h"), job(2, slot="slot1_2@h")]
    assert counts(report(before, after)) == (1, 0, 0, 0, {Cause.SLOT_DIVIDED: 1})


def test_jobs_submitted_since_are_counted_apart(report):
    found = report(ONE, ([free()], [rejected(1, at=SINCE), job(8), job(9, slot="s5@h")]))
    assert (found.new_jobs, found.new_running) == (2, 1)


def test_jobs_of_a_schedd_that_did_not_answer_before_are_not_new():
    """Nobody can say when they were submitted."""
    silent = Problem(Severity.WARNING, Source("schedd S"), "no answer within 20 s")
    pool, later = snapshot([free()]), snapshot([free()], [job(1), job(2, GlobalJobId='"other#2.0#1"')])
    before = Observation.of(attrs.evolve(pool, problems=(silent,)), NOW)
    found = compare(JobDecisions.of(cycle(pool)), before, Observation.of(later, NOW + 60))
    assert (found.new_jobs, found.new_running) == (1, 0)


def test_jobs_that_no_negotiator_serves_take_no_part(report):
    others = [job(1, status=5), job(2, JobUniverse="7"), job(3, slot="s0@h")]
    assert counts(report(([free()], others), ([free()], others))) == (0, 0, 0, 0, {})


def test_a_job_that_a_gate_keeps_idle_and_that_runs_is_a_difference_by_the_gate(report):
    found = report(([free()], [job(1, "bob")]), ([used()], [job(1, "bob", slot="s0@h")]), **GATE)
    (difference,) = found.differences
    assert (difference.kind, difference.job, difference.submitter) == (
        DifferenceKind.WOULD_WAIT,
        "1.0",
        "bob@d",
    )
    assert difference.slot == "s0@h"
    assert "NEGOTIATOR_JOB_CONSTRAINT" in difference.rule
    assert "central.conf:1" in difference.rule


def test_a_gate_holds_on_slots_that_became_free_later_too(report):
    before = [used(since=SINCE)], [job(1, "bob")]
    found = report(before, ([used()], [job(1, "bob", slot="s0@h")]), **GATE)
    assert [each.kind for each in found.differences] == [DifferenceKind.WOULD_WAIT]


@pytest.mark.parametrize(("name", "differences"), [("s0@h", 1), ("slot1_1@h", 0)])
def test_a_policy_that_denies_every_slot_holds_on_a_whole_slot_that_became_free_later(
    report, name, differences
):
    """What remains of a partitionable slot is another offer each time."""
    no_bob = "{name: no-bob, applies_to: match, expression: 'MY.Owner != \"bob\"', description: bob waits}"
    before = [used(since=SINCE), partitionable(0)], [job(1, "bob")]
    after = [used(), partitionable(0, LATER), part(1)], [job(1, "bob", slot=name)]
    found = report(before, after, pool_yaml=f"policies:\n  - {no_bob}\n")
    assert len(found.differences) == differences


def test_a_job_for_which_a_partitionable_slot_was_too_small_is_no_difference(report):
    """The slot had what the job needs when the other negotiator decided."""
    needy = {"RequestCpus": "2", "Requirements": "TARGET.Cpus >= RequestCpus"}
    before = [partitionable(1)], [job(1, **needy)]
    after = [partitionable(0, LATER), part(1, cpus=2)], [job(1, slot="slot1_1@h", **needy)]
    assert counts(report(before, after)) == (0, 0, 0, 0, {Cause.SLOT_FREED_LATER: 1})


def test_a_partitionable_slot_of_which_the_collector_had_an_old_ad_is_no_difference(report):
    """A part was made in the second of the ad: it shows in the amounts only."""
    old = job(2, slot="slot1_1@h", JobCurrentStartDate=str(SINCE))
    before = [partitionable(2)], [job(1), old]
    after = [partitionable(0), part(1, cpus=2, since=SINCE)], [rejected(1), old]
    assert counts(report(before, after)) == (0, 0, 0, 0, {Cause.SLOT_CHANGED: 1})


def test_a_job_of_a_gated_user_on_a_claim_of_its_schedd_is_nobodys_decision(report):
    before = [used(since=SINCE)], [job(1, "bob")]
    found = report(before, ([used(since=SINCE)], [job(1, "bob", slot="s0@h")]), **GATE)
    assert counts(found) == (0, 0, 0, 0, {Cause.CLAIM_REUSED: 1})


def test_a_job_that_would_have_run_in_place_of_a_gated_one_names_both_and_the_gate(report):
    before = [free()], [job(1), job(2, "bob")]
    after = [used(by="bob@d")], [rejected(1, reason="insufficient priority"), job(2, "bob", slot="s0@h")]
    run, wait = sorted(report(before, after, **GATE).differences, key=lambda each: each.job)
    assert (run.kind, run.instead, run.theirs) == (DifferenceKind.WOULD_RUN, "2.0", "insufficient priority")
    assert wait.kind is DifferenceKind.WOULD_WAIT
    assert run.rule == wait.rule


def test_a_job_that_stays_idle_beside_a_free_slot_is_a_difference_by_their_reason(report):
    found = report(ONE, ([free()], [rejected(1, reason="submitter limit exceeded")]))
    (difference,) = found.differences
    assert (difference.kind, difference.slot) == (DifferenceKind.WOULD_RUN, "s0@h")
    assert difference.rule == "the pool's negotiator: submitter limit exceeded"


def test_a_slot_is_followed_through_exchanged_jobs_to_a_new_one(report):
    """We: job 1 on the first slot, job 2 on the second. They: job 1 on the second, a new job on the first."""
    before = [free(0, Rank="1"), free(1)], [job(1, Rank='TARGET.Name == "s0@h"'), job(2)]
    after = [used(0), used(1)], [job(1, slot="s1@h"), rejected(2), job(9, slot="s0@h")]
    assert counts(report(before, after)) == (0, 1, 0, 0, {Cause.NEWER_JOB: 1})


def test_a_slot_that_was_claimed_before_our_snapshot_shows_it_free_is_no_difference(report):
    """The collector's ads may be older than the schedd's."""
    before = [free()], [job(1, QDate="1"), job(2, QDate="2")]
    after = [used(since=int(NOW))], [rejected(1), job(2, slot="s0@h")]
    assert counts(report(before, after)) == (0, 0, 0, 0, {Cause.MATCHED_BEFORE: 2})


def test_a_job_that_got_the_slot_of_another_that_found_a_later_one_is_no_difference(report):
    before = [free(0), used(1, since=SINCE)], [job(1), job(2)]
    after = [used(0), used(1)], [job(1, slot="s1@h"), job(2, slot="s0@h")]
    assert counts(report(before, after)) == (0, 0, 0, 0, {Cause.SLOT_FREED_LATER: 2})


def test_another_order_of_jobs_is_a_difference_of_both_jobs(report):
    """We: the older job. They: the other one."""
    before = [free()], [job(1, QDate="1"), job(2, QDate="2")]
    after = [used()], [rejected(1), job(2, slot="s0@h")]
    found = {each.kind: each for each in report(before, after).differences}
    assert found[DifferenceKind.WOULD_RUN].job == "1.0"
    assert found[DifferenceKind.WOULD_RUN].instead == "2.0"
    assert (found[DifferenceKind.WOULD_WAIT].job, found[DifferenceKind.WOULD_WAIT].instead) == ("2.0", "1.0")
    assert {each.rule for each in found.values()} == {"the order of submitters and jobs"}


SMALL = {
    "pool_yaml": "policies:\n  - {name: small, applies_to: match, expression: 'MY.Owner != \"bob\" || TARGET.SlotID == 2',"
    " description: bob gets slot 2 only}\n"
}
SECOND = {"SlotID": "2", "Name": '"s1@h"'}


def test_a_job_that_runs_on_a_slot_that_a_policy_denied_it_counts_for_the_policy(report):
    """We had given its only other slot to another job."""
    before = [free(0), free(1, **SECOND)], [job(1, "bob", QDate="1"), job(2, "bob", QDate="2")]
    after = [used(0), used(1, **SECOND)], [job(1, "bob", slot="s1@h"), job(2, "bob", slot="s0@h")]
    (difference,) = report(before, after, **SMALL).differences
    assert (difference.job, difference.instead) == ("2.0", "")
    assert difference.rule.startswith("expressions: small (pool.yaml:2")


def test_a_job_whose_slot_went_to_one_that_a_policy_kept_from_another_counts_for_the_policy(report):
    """We: bob's job on slot 2, the only one for carol's. They: bob's on the other one, carol's on slot 2."""
    picky = {"owner": "carol", "Requirements": "TARGET.SlotID == 2"}
    before = [free(0), free(1, **SECOND)], [job(1, "bob"), job(2, **picky)]
    after = [used(0), used(1, **SECOND)], [job(1, "bob", slot="s0@h"), job(2, slot="s1@h", **picky)]
    (difference,) = report(before, after, submitters("bob", "carol"), **SMALL).differences
    assert (difference.job, difference.instead) == ("2.0", "")
    assert difference.rule.startswith("expressions: small (pool.yaml:2")


def test_a_slot_that_a_policy_may_have_denied_counts_for_the_policy_or_the_order(report):
    """We: ann's job. They: bob's, which the policy denied one of the two slots."""
    other = used(1, since=SINCE, **SECOND)
    before, after = [free(0), other], [used(0), other]
    found = report(
        (before, [job(1), job(2, "bob")]), (after, [rejected(1), job(2, "bob", slot="s0@h")]), **SMALL
    )
    (rule,) = {each.rule for each in found.differences}
    assert len(found.differences) == 2
    assert rule.startswith("expressions: small (pool.yaml:2")
    assert rule.endswith(", or the order of submitters and jobs")


def test_totals_count_differences_by_rule(report):
    found = report(ONE, ([free()], [rejected(1)]))
    totals = ShadowTotals()
    for _ in range(3):
        totals.add(found)
    rule = (DifferenceKind.WOULD_RUN, "the pool's negotiator: no match found")
    assert (totals.cycles, totals.same, dict(totals.differences)) == (3, 0, {rule: 3})


@pytest.mark.parametrize(
    "odd",
    [
        {"RemoteHost": '"slot1_99999999999999999999@h"'},
        {"RemoteHost": "1"},
        {"JobCurrentStartDate": 'real("nan")'},
        {"ServerTime": '"now"'},
        {"AutoClusterId": "-1.5", "LastRejMatchTime": 'real("inf")'},
    ],
)
def test_odd_values_in_ads_are_not_comparable_at_worst(report, odd):
    found = report(ONE, ([used()], [job(1, **({"JobStatus": "2"} | odd))]))
    assert found.same + len(found.differences) + sum(found.not_comparable.values()) == 1
