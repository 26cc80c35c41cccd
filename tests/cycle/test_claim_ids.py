"""Claim ids: a slot without one cannot be claimed, and two ads of one slot share theirs."""

import attrs
import numpy as np
import pytest

from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, cycle, job, matched, slot, snapshot, write_bundle

ADDRESS = {"MyAddress": '"<10.0.0.1:9618>"'}


def alike(count):
    return [job(number) for number in range(count)]


def with_counts(slots, jobs, *counts):
    return attrs.evolve(snapshot(slots, jobs), claim_ids=counts)


def test_a_slot_without_a_claim_id_is_passed_over_and_the_next_best_is_matched():
    result = cycle(with_counts([slot(0), slot(1), slot(2)], alike(3), 0, 1, 1))
    assert matched(result) == [("1.0", "s1@h"), ("1.1", "s2@h")]
    (outcome,) = result.outcomes
    assert [(each.reason.code, each.removed) for each in outcome.removals] == [("no_claim_id", 1)]


def test_a_slot_without_a_claim_id_stays_out_of_the_cycle():
    """Of the two requests only the first one finds it so; the second one names the same reason."""
    jobs = [job(0), job(1, Owner='"zoe"', User='"zoe@d"')]
    result = cycle(with_counts([slot(0), slot(1)], jobs, 0, 1))
    assert matched(result) == [("1.0", "s1@h")]
    assert [each.reason.code for each in result.outcomes[1].removals] == ["taken", "no_claim_id"]


def test_a_slot_that_is_not_claimed_needs_no_claim_id():
    assert matched(cycle(with_counts([slot(0, WantClaiming="false")], alike(1), 0))) == [("1.0", "s0@h")]


@pytest.mark.parametrize("count", [0, 1])
def test_a_slot_that_is_offline_is_matched_without_a_claim_id_and_in_its_own_cycle_alone(count):
    """So that condor_rooster wakes the machine, and the job is matched again, perhaps with another slot."""
    result = cycle(with_counts([slot(0, Offline="true"), slot(1)], alike(2), count, 1))
    assert matched(result) == [("1.0", "s0@h"), ("1.1", "s1@h")]
    assert [entry.slot for entry in result.pending] == ["s1@h"]
    assert result.state.journal == result.pending
    assert {match.id for match in result.matches if match.slot == "s0@h"} == result.unclaimed


def test_without_private_ads_a_slot_that_is_offline_can_be_matched():
    assert matched(cycle(snapshot([slot(0, Offline="true")], alike(1)))) == [("1.0", "s0@h")]


def test_under_fair_share_slots_that_are_offline_are_matched_last(tmp_path):
    """By the default of NEGOTIATOR_POST_JOB_RANK, among slots that the other ranks do not distinguish."""
    bundle = write_bundle(tmp_path / "b", "order: submitters\naccounting: {trust_names: true}\n")
    of_slot = {"SlotID": "1", "Cpus": "1"}
    slots = [
        slot(0, Offline="true", KFlops="5000", **of_slot),
        slot(1, KFlops="1000", **of_slot),
        slot(2, KFlops="2000", **of_slot),
    ]
    result = cycle(with_counts(slots, alike(3), 1, 1, 1), bundle)
    assert matched(result) == [("1.0", "s2@h"), ("1.1", "s1@h"), ("1.2", "s0@h")]


def test_without_private_ads_every_slot_can_be_claimed_once():
    assert matched(cycle(snapshot([slot(0)], alike(2)))) == [("1.0", "s0@h")]


def test_two_ads_of_one_name_and_address_are_one_slot():
    twins = [slot(0, **ADDRESS), slot(1), slot(0, **ADDRESS), slot(0, MyAddress='"<10.0.0.2:9618>"')]
    assert matched(cycle(snapshot(twins, alike(4)))) == [("1.0", "s0@h"), ("1.1", "s1@h"), ("1.2", "s0@h")]


def test_slots_without_a_name_are_different_slots():
    slots = [slot(number, Name=None) for number in range(2)]
    assert len(cycle(snapshot(slots, alike(2))).matches) == 2


def test_a_discarded_slot_takes_its_numbers_along(tmp_path):
    bundle = write_bundle(tmp_path / "b", "NEGOTIATOR_SLOT_CONSTRAINT: MY.Good =?= true")
    pool = with_counts([slot(0), slot(1, Good="true"), slot(2, Good="true")], alike(3), 1, 0, 1)
    assert matched(cycle(pool, bundle)) == [("1.0", "s2@h")]


def test_a_slot_that_wants_to_be_matched_again_is_left_for_other_requests(tmp_path):
    """As long as it has claim ids; one request gets it once a turn."""
    again = slot(0, WantAdRevaluate="true")
    jobs = [job(number, Owner=f'"{name}"', User=f'"{name}@d"') for number, name in enumerate("abc")]
    assert len(cycle(with_counts([again], alike(3), 3)).matches) == 1
    by_name = write_bundle(tmp_path / "b", "order: names\n")
    assert [each.job for each in cycle(with_counts([again], jobs, 2), by_name).matches] == ["1.0", "1.1"]


def test_a_slot_without_a_claim_id_costs_no_share(tmp_path):
    """Under fair share: what two submitters get does not depend on which of the slots cannot be claimed."""
    bundle = write_bundle(tmp_path / "b", "order: submitters\naccounting: {trust_names: true}\n")
    jobs = [job(each, Owner=f'"{name}"', User=f'"{name}@d"') for name in ("ann", "sue") for each in range(9)]
    for dead in (0, 3, 6):
        counts = [1] * 7
        counts[dead] = 0
        pool = with_counts([slot(number, Cpus="1") for number in range(7)], jobs, *counts)
        result = run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest))
        users = [entry.submitter for entry in result.journal]
        assert (users.count("ann@d"), users.count("sue@d")) == (3, 3)
        (pie,) = result.order.pies
        assert pie.spins[0].slots_left == 7
        assert len(np.unique([entry.slot for entry in result.journal])) == 6
