"""The scores of slots: YuniKorn's node sorting over the machines of a pool."""

import numpy as np
import pytest

from negotiator.classad import Environment, Table
from negotiator.plugin import NodeSortKind, NodeSortPolicy
from negotiator_queue_order.machines import Machines
from pools import slot

CLAIMED = '"Claimed"'


def machines(kind, slots, weights=None):
    """Return machines of slots: (machine, vcore, memory, claimed)."""
    table = Table.from_ads(
        [
            slot(number, Machine=f'"{machine}"', State=CLAIMED if claimed else '"Unclaimed"')
            for number, (machine, _, _, claimed) in enumerate(slots)
        ]
    )
    amounts = {
        "vcore": np.array([float(each[1]) for each in slots]),
        "memory": np.array([float(each[2]) for each in slots]),
    }
    policy = NodeSortPolicy(NodeSortKind(kind), weights or {})
    return Machines.of(policy, table, amounts, Environment(now=0.0))


def first(found):
    """Return the rows of the free slots, those to be taken first before the others."""
    rows = np.flatnonzero(found.free)
    return rows[np.argsort(-found.scores[rows], kind="stable")].tolist()


POOL = [
    ("a", 4, 10, True),
    ("a", 4, 10, False),
    ("b", 4, 10, False),
    ("b", 4, 10, False),
    ("c", 6, 15, True),
    ("c", 2, 5, False),
]


def test_binpacking_takes_the_most_used_machine_first_and_fair_the_least_used():
    assert first(machines("binpacking", POOL)) == [5, 1, 2, 3]
    assert first(machines("fair", POOL)) == [2, 1, 3, 5]  # the second slot of b counts the first as used


def test_slots_that_are_granted_count_as_used():
    found = machines("binpacking", POOL)
    before = found.scores
    found.take(np.array([2]))
    assert first(found) == [5, 1, 3]
    assert found.scores[3] == 0.5
    assert before[3] == 0.0  # the scores of an earlier turn do not change
    found = machines("fair", POOL)
    found.take(np.array([2]))
    assert first(found) == [1, 3, 5]


@pytest.mark.parametrize(
    ("weights", "use"),
    [
        ({}, 0.35),
        ({"vcore": 1.0}, 0.5),
        ({"vcore": 3.0, "memory": 1.0}, 0.425),
        ({"vcore": 0.0}, 0.0),
        ({"gpu": 1.0}, 0.0),
    ],
)
def test_the_use_of_a_machine_is_averaged_by_the_weights_of_resources(weights, use):
    found = machines("binpacking", [("a", 2, 2, True), ("a", 2, 8, False)], weights)
    assert found.scores[1] == pytest.approx(use)


def test_a_resource_that_a_machine_does_not_have_is_left_out():
    found = machines("binpacking", [("a", 2, 0, True), ("a", 2, 0, False)])
    assert found.scores[1] == 0.5
