"""The resources of a pool are those of its slots, in the units of the queues."""

from negotiator.classad import Table
from negotiator.cycle.claim_amounts import pool_capacity
from negotiator.pool import Snapshot
from pools import slot, snapshot
from queueing import bundle, limited

NAMED = limited("{users: ['*'], maxresources: {gpus: 1, cpu: 5, quarters: 1}}")
POOL = "placement:\n  resources:\n    quarters: floor(MY.RequestCpus / 4)\n"


def capacity(tmp_path, *slots):
    return pool_capacity(snapshot(list(slots)).slots, bundle(tmp_path, NAMED, POOL))


def test_amounts_of_all_slots_are_added(tmp_path):
    """Memory in bytes, vcore in thousandths, others as the slots have them; without a slot that has it, it is missing."""
    found = capacity(
        tmp_path,
        slot(0, Cpus="4", Memory="1000", GPUs="2"),
        slot(1, Cpus="2", Memory="24"),
        slot(2, Cpus="2", Memory="0"),
    )
    assert found == {"vcore": 8000, "cpu": 8, "gpus": 2, "memory": 1024 << 20, "quarters": 1}
    assert "gpus" not in capacity(tmp_path, slot(0))


def test_an_expression_is_evaluated_for_each_slot(tmp_path):
    """The whole pool has 12 cores, but no slot has more than one quarter of a dozen."""
    assert capacity(tmp_path, *(slot(number, Cpus="3") for number in range(4)))["cpu"] == 12
    assert "quarters" not in capacity(tmp_path, *(slot(number, Cpus="3") for number in range(4)))


def test_a_divided_machine_counts_once(tmp_path):
    """Its own ad has what is left; the slots that were made of it have the rest."""
    whole = slot(0, Cpus="3", TotalSlotCpus="8", PartitionableSlot="true")
    parts = [slot(1, Cpus="4", DynamicSlot="true"), slot(2, Cpus="1", DynamicSlot="true")]
    assert capacity(tmp_path, whole, *parts)["vcore"] == 8000


def test_values_that_are_no_amounts_count_nothing(tmp_path):
    """A host writes its ads."""
    invalid = ["-4", '"4"', "undefined", "1e300", "error"]
    slots = [slot(number, Cpus=value, GPUs=value) for number, value in enumerate(invalid)]
    found = capacity(tmp_path, *slots, slot(9, Cpus="2"))
    assert (found["cpu"], "gpus" in found) == (2, False)


def test_a_pool_without_slots_has_nothing(tmp_path):
    nothing = Table.from_ads(())
    empty = Snapshot(nothing, nothing, nothing, nothing)
    assert pool_capacity(empty.slots, bundle(tmp_path, NAMED, POOL)) == {}
