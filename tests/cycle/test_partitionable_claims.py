"""Slots that the negotiator matches otherwise than their State and Requirements say."""

import pytest

from pools import cycle, job, matched, slot, snapshot, write_bundle

CLAIMED = {"State": '"Claimed"', "PartitionableSlot": "true"}


def of(schedd, number=0):
    return job(number, GlobalJobId=f'"{schedd}#1.{number}#1"')


def test_a_claimed_partitionable_slot_is_for_the_schedd_that_holds_it(tmp_path):
    pool = snapshot([slot(0, RemoteScheddName='"S1"', **CLAIMED)], [of("s2"), of("s1", 1)])
    result = cycle(pool, write_bundle(tmp_path / "b", "order: names\n"))
    assert matched(result) == [("1.1", "s0@h")]
    codes = {
        each.request.schedd: [removal.reason.code for removal in each.removals] for each in result.outcomes
    }
    assert codes["s2"] == ["claimed_by_schedd", "taken"]


def test_a_claimed_partitionable_slot_of_no_schedd_is_for_all():
    assert matched(cycle(snapshot([slot(0, **CLAIMED)], [of("s2")]))) == [("1.0", "s0@h")]


@pytest.mark.parametrize(
    "changed", [{"PartitionableSlot": "false"}, {"PartitionableSlot": '"x"'}, {"State": '"Preempting"'}]
)
def test_other_slots_in_use_are_waited_for(tmp_path, changed):
    bundle = write_bundle(tmp_path / "b", "order: names\n")
    assert matched(cycle(snapshot([slot(0, **(CLAIMED | changed))], [of("s1")]), bundle)) == []


def test_the_requirements_for_the_negotiator_replace_the_slots_own():
    slots = [
        slot(0, Requirements="false", NegotiatorRequirements="TARGET.Good"),
        slot(1, Requirements="TARGET.Good =!= true"),
        slot(2, Requirements="true", NegotiatorRequirements="false"),
        slot(3, Requirements=None, NegotiatorRequirements="MY.SavedRequirements =?= undefined"),
    ]
    result = cycle(snapshot(slots, [job(number, Good="true") for number in range(4)]))
    assert matched(result) == [("1.0", "s0@h"), ("1.1", "s3@h")]
    saved = [match.slot_ad.get("SavedRequirements") for match in result.matches]
    assert [str(each) for each in saved] == [str(slots[0].get("Requirements")), "None"]
