"""Which queue comes first: the tables of YuniKorn's own tests of queue sorting, as facts, and its rules of priorities."""

import pytest

from negotiator.plugin import PriorityPolicy, QueueConfig, QueueSettings, QueueTree
from negotiator_queue_order.queues import QueueNode, Queues, fair_share


def both(amount):
    return {"memory": amount, "vcore": amount}


def order_of(queues, *, by_priority, fair_max):
    """Return the names of queues in their order; each is (used, guaranteed, priority) by name."""
    root = QueueNode("root", QueueSettings(by_priority=by_priority), {}, {}, None)
    for name, (used, guaranteed, priority) in queues.items():
        node = QueueNode(name, QueueSettings(), guaranteed, fair_max, root, used=used, priority=priority)
        root.children.append(node)
    return [node.path for node in sorted(root.children, key=QueueNode.sort_key)]


# Source: yunikorn-core, TestSortQueuesWithGuarantees and TestSortQueuesNoGuarantees. Where it leaves a tie to the order
# before, names decide here (q2 before q3 never ties: their priorities differ).
GUARANTEED = {"q0": both(500), "q1": both(300), "q2": both(200), "q3": both(200)}
PRIORITIES = {"q0": 1, "q1": 1, "q2": 1, "q3": 3}


@pytest.mark.parametrize(
    ("used", "by_share", "by_priority"),
    [
        ((300, 200, 100, 100), ["q3", "q2", "q0", "q1"], ["q3", "q2", "q0", "q1"]),
        ((200, 300, 100, 100), ["q0", "q3", "q2", "q1"], ["q3", "q0", "q2", "q1"]),
        ((150, 120, 100, 100), ["q0", "q1", "q3", "q2"], ["q3", "q0", "q1", "q2"]),
    ],
)
def test_the_queue_that_uses_the_least_part_of_its_guarantee_is_first(used, by_share, by_priority):
    queues = {
        name: (both(amount), GUARANTEED[name], PRIORITIES[name])
        for name, amount in zip(GUARANTEED, used, strict=True)
    }
    assert order_of(queues, by_priority=False, fair_max={}) == by_share
    assert order_of(queues, by_priority=True, fair_max={}) == by_priority


def test_equal_shares_go_by_priority_then_by_name():
    queues = {
        "q0": ({"memory": 400, "vcore": 200}, {"memory": 800, "vcore": 400}, 1),
        "q1": ({"memory": 200, "vcore": 150}, {"memory": 400, "vcore": 300}, 1),
        "q2": (both(100), both(200), 1),
        "q3": (both(100), both(200), 3),
    }
    assert order_of(queues, by_priority=False, fair_max={}) == ["q3", "q0", "q1", "q2"]


@pytest.mark.parametrize(
    ("used", "by_share", "by_priority"),
    [
        ((300, 200, 100, 100), ["q3", "q2", "q1", "q0"], ["q3", "q2", "q0", "q1"]),
        ((200, 300, 100, 100), ["q3", "q2", "q0", "q1"], ["q3", "q2", "q0", "q1"]),
    ],
)
def test_a_queue_without_a_guarantee_is_compared_with_what_it_could_use_at_most(used, by_share, by_priority):
    queues = {
        f"q{number}": (both(amount), {}, priority)
        for number, (amount, priority) in enumerate(zip(used, (1, 0, 2, 3), strict=True))
    }
    assert order_of(queues, by_priority=False, fair_max=both(1000)) == by_share
    assert order_of(queues, by_priority=True, fair_max=both(1000)) == by_priority


@pytest.mark.parametrize(
    ("used", "guaranteed", "most", "share"),
    [
        ({}, {"vcore": 10}, {}, 0.0),
        ({"vcore": 5, "memory": 80}, {"vcore": 10, "memory": 100}, {}, 0.8),
        ({"vcore": 5, "memory": 80}, {"vcore": 10}, {"memory": 800}, 0.5),
        ({"vcore": 5, "memory": 80}, {"vcore": 10}, {"memory": 100, "vcore": 5}, 0.8),
        ({"gpu": 3}, {"vcore": 10}, {}, 0.0),  # neither guaranteed nor known in the pool
        ({"gpu": 1, "vcore": 1}, {"gpu": 0, "vcore": 10}, {}, 1.0),  # nothing guaranteed: all is too much
        ({"gpu": 0, "vcore": 1}, {"gpu": 0, "vcore": 10}, {}, 0.1),
        ({"vcore": 30}, {"vcore": 10}, {}, 3.0),
    ],
)
def test_the_largest_part_of_all_resources_is_the_share(used, guaranteed, most, share):
    assert fair_share(used, guaranteed, most) == share


@pytest.mark.parametrize(
    ("policy", "offset", "below", "seen"),
    [
        ("default", 0, 7, 7),
        ("default", 5, 7, 12),
        ("default", -5, 7, 2),
        ("fence", 5, 7, 5),
        ("fence", 0, -100, 0),
        ("default", 2**31 - 1, 7, 2**31 - 1),
        ("default", -(2**31), -7, -(2**31)),
        ("fence", 5, -(2**31), -(2**31)),  # no waiting job: the lowest
    ],
)
def test_a_parent_sees_the_highest_priority_plus_the_offset_or_the_offset_of_a_fence(
    policy, offset, below, seen
):
    properties = QueueSettings(priority=PriorityPolicy(policy), offset=offset)
    assert QueueNode("root.a", properties, {}, {}, None).priority_for_parent(below) == seen


def test_copies_are_given_as_long_as_no_other_queue_is_first():
    root = QueueNode("root", QueueSettings(), {}, {}, None)
    root.children = [
        QueueNode(
            f"root.{name}",
            QueueSettings(),
            {"vcore": 100},
            {},
            root,
            [],
            {"vcore": used},
            {"vcore": demand},
            waiting=1,
        )
        for name, used, demand in (("a", 10, 500), ("b", 40, 400))
    ]
    first, rival = root.first_child()
    assert first.path == "root.a"
    assert (
        first.copies_while_first({"vcore": 10}, 50, rival) == 4
    )  # at 40 of 100 each, the larger demand is first
    assert first.copies_while_first({"vcore": 10}, 3, rival) == 3
    assert first.copies_while_first({"vcore": 0}, 50, rival) == 50
    root.children[0].pending = {"vcore": 430}
    assert first.copies_while_first({"vcore": 10}, 50, rival) == 4  # equal demands go by name
    root.children[0].pending = {"vcore": 429}
    assert first.copies_while_first({"vcore": 10}, 50, rival) == 3


def test_what_a_queue_could_use_at_most_is_its_maximum_or_that_of_the_queues_above_or_the_pool():
    leaf = QueueConfig("root.a.x", leaf=True, max={"gpu": 1}, guaranteed={"vcore": 0})
    parent = QueueConfig("root.a", leaf=False, max={"vcore": 50}, children=(leaf,))
    tree = QueueTree.of(QueueConfig("root", leaf=False, children=(parent,)), 0.0)
    found = Queues.of(tree, {"vcore": 100, "memory": 7}).node("root.a.x")
    assert found.fair_max == {"vcore": 50, "memory": 7, "gpu": 1}
    assert found.guaranteed == {}  # only zeros guarantee nothing


@pytest.mark.parametrize(("mode", "maximum"), [("enforce", 3), ("warn", 9), ("dryrun", 9)])
def test_a_maximum_that_does_not_enforce_changes_no_share(mode, maximum):
    """Without it a queue is compared with what the pool has."""
    child = QueueConfig("root.a", leaf=True, max={"vcore": 3}, properties={"negotiator.max.mode": mode})
    tree = QueueTree.of(QueueConfig("root", leaf=False, children=(child,)), 0)
    assert Queues.of(tree, {"vcore": 9}).node("root.a").fair_max == {"vcore": maximum}
