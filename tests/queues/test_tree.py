"""The current queues: changes by configurations, rules and clean-ups."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.queues import QueueChangeKind, QueueState, QueueTree
from negotiator.queues.tree import QueueError
from yunikorn_pool import read

FLAT = [{"name": "a"}, {"name": "b"}]
DEEP = [{"name": "a", "queues": [{"name": "b"}]}, {"name": "c", "parent": True}]
CONFIGS = [
    read({"queues": [{"name": "root", "queues": queues}]}).partition.root for queues in (FLAT, DEEP, [])
]
PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda names: ".".join(["root", *names]))
STEPS = st.one_of(
    st.tuples(st.just("create"), PATHS),
    st.tuples(st.just("apply"), st.sampled_from(CONFIGS)),
    st.tuples(st.just("clean"), st.frozensets(PATHS, max_size=3)),
)


def tree(queues, **root):
    return QueueTree.of(
        read({"queues": [{"name": "root", "queues": queues, **root}]}).partition.root, 0.0
    ).mutable()


def config(queues):
    return read({"queues": [{"name": "root", "queues": queues}]}).partition.root


def kinds(changes):
    """Return the queue and kind of each change."""
    return [(each.path, each.change) for each in changes]


def run(queues, step, argument, now):
    try:
        return getattr(queues, step)(argument, now)
    except QueueError as error:
        return error


@given(st.lists(STEPS, max_size=12))
def test_the_queues_are_always_a_tree(steps):
    """Each queue has its parent, parents come before their children, and the root exists."""
    queues = QueueTree.of(CONFIGS[0], 0.0).mutable()
    for now, (step, argument) in enumerate(steps, 1):
        run(queues, step, argument, float(now))
        paths = [queue.path for queue in queues.view]
        assert paths[0] == "root"
        for place, path in enumerate(paths[1:], 1):
            assert path.rpartition(".")[0] in paths[:place]
        below = Counter(path.rpartition(".")[0] for path in paths)
        assert all(queues.view.has_children(path) == bool(below[path]) for path in paths)
        assert not queues.view.get("root").draining


@given(st.lists(STEPS, max_size=12))
def test_the_changes_describe_the_difference(steps):
    """They name each queue that was created, removed, or changed its state, with the time; nothing else changes."""
    queues = QueueTree.of(CONFIGS[0], 0.0).mutable()
    for now, (step, argument) in enumerate(steps, 1):
        before = {queue.path: queue for queue in queues.view}
        result = run(queues, step, argument, float(now))
        after = {queue.path: queue for queue in queues.view}
        if isinstance(result, QueueError):
            assert after == before
            continue
        named = {change.path: change.change for change in result}
        assert len(named) == len(result)
        assert {path for path in after if path not in before} == {
            path for path, change in named.items() if change is QueueChangeKind.CREATED
        }
        assert before.keys() - after.keys() == {
            path for path, change in named.items() if change is QueueChangeKind.REMOVED
        }
        for path in before.keys() & after.keys():
            assert (before[path].state, before[path].managed) == (
                after[path].state,
                after[path].managed,
            ) or named[path] in {QueueChangeKind.DRAINING, QueueChangeKind.RESTORED, QueueChangeKind.MANAGED}
            assert after[path].since in {before[path].since, float(now)}


@given(st.lists(STEPS, max_size=12), st.sampled_from(CONFIGS), st.frozensets(PATHS, max_size=3))
def test_a_clean_up_leaves_configured_queues_and_queues_in_use(steps, root, busy):
    """With their parents; a second clean-up changes nothing, nor does the same configuration again."""
    queues = QueueTree.of(CONFIGS[0], 0.0).mutable()
    for now, (step, argument) in enumerate(steps, 1):
        run(queues, step, argument, float(now))
    queues.apply(root, 50.0)
    used = {path for path in busy if queues.view.get(path)}
    queues.clean(busy, 51.0)
    wanted = {each.path for each in root.walk()} | used
    assert {queue.path for queue in queues.view} == {
        ".".join(path.split(".")[:depth]) for path in wanted for depth in range(1, path.count(".") + 2)
    }
    assert queues.clean(busy, 52.0) == ()
    assert queues.apply(root, 53.0) == ()


def test_a_queue_removed_from_the_configuration_is_removed_when_empty():
    """It drains first; configured again it is active, since that time."""
    queues = tree(FLAT)
    assert kinds(queues.apply(config([{"name": "a"}]), 1.0)) == [("root.b", QueueChangeKind.DRAINING)]
    assert queues.clean({"root.b"}, 2.0) == ()
    assert kinds(queues.apply(config(FLAT), 3.0)) == [("root.b", QueueChangeKind.RESTORED)]
    assert (queues.view.get("root.b").state, queues.view.get("root.b").since) == (QueueState.ACTIVE, 3.0)
    queues.apply(config([{"name": "a"}]), 4.0)
    assert kinds(queues.clean({"root.a"}, 5.0)) == [("root.b", QueueChangeKind.REMOVED)]


def test_a_queue_created_by_a_rule_can_become_configured():
    """Then it stays when it is empty, with the values of the configuration."""
    queues = tree([{"name": "p", "parent": True}])
    assert kinds(queues.create("root.P.Sue", 1.0)) == [("root.p.sue", QueueChangeKind.CREATED)]
    assert queues.create("root.p.sue", 1.5) == ()
    named = config([{"name": "p", "queues": [{"name": "Sue", "maxapplications": 7}]}])
    assert ("root.p.sue", QueueChangeKind.MANAGED) in kinds(queues.apply(named, 2.0))
    assert queues.clean((), 3.0) == ()
    assert queues.view.get("root.p.SUE").config.applications == 7


def test_no_queue_is_created_below_a_leaf_or_a_draining_queue():
    """Nor any parent on the way."""
    queues = tree([{"name": "leaf"}, {"name": "p", "parent": True}])
    queues.apply(config([{"name": "leaf"}]), 1.0)
    for path, code in (("root.leaf.x.y", "create_under_leaf"), ("root.p.x.y", "create_under_draining")):
        with pytest.raises(QueueError) as raised:
            queues.create(path, 2.0)
        assert raised.value.code == code
    assert len(queues.view) == 3


def test_configured_children_drain_with_their_parent():
    """But not queues created by rules, which stay active until they are empty."""
    queues = tree([{"name": "p", "queues": [{"name": "c"}]}, {"name": "q"}])
    queues.create("root.p.d", 1.0)
    without = config([{"name": "q"}])
    assert kinds(queues.apply(without, 2.0)) == [
        ("root.p", QueueChangeKind.DRAINING),
        ("root.p.c", QueueChangeKind.DRAINING),
    ]
    assert queues.apply(without, 3.0) == ()
    assert not queues.view.get("root.p.d").draining


def test_a_template_applies_to_leaves_created_by_rules():
    """That of the nearest parent; parents created on the way get nothing of it."""
    template = {"maxapplications": 3, "resources": {"max": {"memory": "1G"}}}
    queues = tree([{"name": "p", "parent": True, "childtemplate": template}])
    queues.create("root.p.x.y", 1.0)
    assert (queues.view.get("root.p.x").config.max, queues.view.get("root.p.x").config.applications) == (
        {},
        0,
    )
    assert (queues.view.get("root.p.x.y").config.max, queues.view.get("root.p.x.y").config.applications) == (
        {"memory": 10**9},
        3,
    )


def test_a_maximum_of_zero_limits_children_but_not_the_queue_itself():
    """As in YuniKorn."""
    zero = {"name": "p", "resources": {"max": {"memory": "0"}}}
    larger = {"name": "c", "resources": {"max": {"memory": "1"}}}
    assert read({"queues": [{"name": "root", "queues": [{**zero, "queues": [larger]}]}]}).codes == {
        "child_max_exceeds_parent_max"
    }
    assert tree([zero]).view.get("root.p").config.max == {}


def test_created_queues_can_be_undone():
    """With the number of children of the queue above: it is empty again, and is removed."""
    queues = tree([{"name": "p", "parent": True}, {"name": "old", "parent": True}])
    queues.create("root.old.kept", 1.0)
    before = {queue.path: queue for queue in queues.view}
    created = queues.create("root.p.x.y", 2.0)
    assert kinds(created) == [("root.p.x", QueueChangeKind.CREATED), ("root.p.x.y", QueueChangeKind.CREATED)]
    queues.undo(created)
    assert {queue.path: queue for queue in queues.view} == before
    assert not queues.view.has_children("root.p")
    assert queues.view.has_children("root.old")


def test_renewed_templates_apply_to_the_leaves_that_rules_created():
    """To the queues of the configuration they never apply."""
    old, new = ({"name": "p", "parent": True, "childtemplate": {"maxapplications": n}} for n in (1, 2))
    managed = {"name": "q", "maxapplications": 7}
    queues = tree([old, managed])
    queues.create("root.p.above.leaf", 1.0)
    queues.apply(config([new, managed]), 2.0)
    assert queues.view.get("root.p.above.leaf").config.applications == 1
    queues.renew_templates()
    found = {queue.path: queue.config.applications for queue in queues.view}
    assert found == {"root": 0, "root.p": 0, "root.p.above": 0, "root.p.above.leaf": 2, "root.q": 7}


def test_a_copy_is_independent():
    """Changing it does not change the original."""
    queues = tree([{"name": "p", "parent": True}])
    other = queues.view.mutable()
    other.create("root.p.x", 1.0)
    assert queues.view.get("root.p.x") is None
    assert not queues.view.has_children("root.p")
    assert other.view != queues.view == tree([{"name": "p", "parent": True}]).view


def test_the_nearest_queue_is_the_lowest_that_exists():
    """Names ignore case; for a path outside the tree it is the root."""
    queues = tree(DEEP)
    assert queues.view.nearest("root.A.B.x.y").path == "root.a.b"
    assert queues.view.nearest("rootbeer.a").path == "root"


@pytest.mark.parametrize(
    ("levels", "codes"), [(7, set()), (8, {"invalid_queue_name"}), (20, {"invalid_queue_name"})]
)
def test_the_length_of_a_configured_path_is_limited(levels, codes):
    """No application could be placed there; it is reported once, not for each of its children."""
    queues = []
    for _ in range(levels):
        queues = [{"name": "q" * 64, "queues": queues}]
    assert read({"queues": [{"name": "root", "queues": queues}]}).codes == codes


def test_readers_cannot_change_a_tree():
    """Neither its queues nor their configuration."""
    queues = tree([{"name": "p", "resources": {"max": {"memory": "1"}}}]).view
    assert not any(hasattr(queues, name) for name in ("create", "apply", "clean", "renew_templates"))
    for change in (queues.get("root.p").config.max, queues.get("root.p").config.properties):
        with pytest.raises(TypeError, match="does not support item assignment"):
            change["memory"] = 0
