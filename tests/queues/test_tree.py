"""The queues as they are now: what a configuration, a rule and a clean-up make of them."""

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


def told(changes):
    return [(each.path, each.change) for each in changes]


def run(queues, step, argument, now):
    try:
        return getattr(queues, step)(argument, now)
    except QueueError as error:
        return error


@given(st.lists(STEPS, max_size=12))
def test_whatever_happens_it_is_a_tree(steps):
    """Each queue has the one above it, parents come before their children, and the root is never gone."""
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
def test_what_was_told_is_what_happened(steps):
    """Changes name each queue that came, went, or got another state, with the time; nothing else changes."""
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
def test_a_clean_up_leaves_the_configuration_and_what_is_busy(steps, root, busy):
    """With the queues above that; a second one finds nothing to do, nor does the same configuration again."""
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


def test_a_queue_that_leaves_the_configuration_goes_when_it_is_empty():
    """It drains first; coming back it is active again, with the time from which it is."""
    queues = tree(FLAT)
    assert told(queues.apply(config([{"name": "a"}]), 1.0)) == [("root.b", QueueChangeKind.DRAINING)]
    assert queues.clean({"root.b"}, 2.0) == ()
    assert told(queues.apply(config(FLAT), 3.0)) == [("root.b", QueueChangeKind.RESTORED)]
    assert (queues.view.get("root.b").state, queues.view.get("root.b").since) == (QueueState.ACTIVE, 3.0)
    queues.apply(config([{"name": "a"}]), 4.0)
    assert told(queues.clean({"root.a"}, 5.0)) == [("root.b", QueueChangeKind.REMOVED)]


def test_a_queue_that_a_rule_made_can_become_one_of_the_configuration():
    """Then it stays when it is empty, and has what the configuration gives it."""
    queues = tree([{"name": "p", "parent": True}])
    assert told(queues.create("root.P.Sue", 1.0)) == [("root.p.sue", QueueChangeKind.CREATED)]
    assert queues.create("root.p.sue", 1.5) == ()
    named = config([{"name": "p", "queues": [{"name": "Sue", "maxapplications": 7}]}])
    assert ("root.p.sue", QueueChangeKind.MANAGED) in told(queues.apply(named, 2.0))
    assert queues.clean((), 3.0) == ()
    assert queues.view.get("root.p.SUE").config.applications == 7


def test_nothing_is_made_below_a_leaf_or_below_what_drains():
    """And nothing of the way there either."""
    queues = tree([{"name": "leaf"}, {"name": "p", "parent": True}])
    queues.apply(config([{"name": "leaf"}]), 1.0)
    for path, code in (("root.leaf.x.y", "create_under_leaf"), ("root.p.x.y", "create_under_draining")):
        with pytest.raises(QueueError) as raised:
            queues.create(path, 2.0)
        assert raised.value.code == code
    assert len(queues.view) == 3


def test_draining_takes_in_what_the_configuration_has_below():
    """But not what rules made there: that goes on until it is empty."""
    queues = tree([{"name": "p", "queues": [{"name": "c"}]}, {"name": "q"}])
    queues.create("root.p.d", 1.0)
    without = config([{"name": "q"}])
    assert told(queues.apply(without, 2.0)) == [
        ("root.p", QueueChangeKind.DRAINING),
        ("root.p.c", QueueChangeKind.DRAINING),
    ]
    assert queues.apply(without, 3.0) == ()
    assert not queues.view.get("root.p.d").draining


def test_a_template_is_for_the_leaves_that_rules_make():
    """The nearest one above counts, and the parents on the way get nothing of it."""
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


def test_a_maximum_of_zero_is_compared_but_not_in_force():
    """A queue below may not have more, yet the queue itself runs without one, as YuniKorn's do."""
    zero = {"name": "p", "resources": {"max": {"memory": "0"}}}
    larger = {"name": "c", "resources": {"max": {"memory": "1"}}}
    assert read({"queues": [{"name": "root", "queues": [{**zero, "queues": [larger]}]}]}).codes == {
        "child_max_exceeds_parent_max"
    }
    assert tree([zero]).view.get("root.p").config.max == {}


def test_a_copy_is_a_tree_of_its_own():
    """Trying something out on it changes nothing."""
    queues = tree([{"name": "p", "parent": True}])
    other = queues.view.mutable()
    other.create("root.p.x", 1.0)
    assert queues.view.get("root.p.x") is None
    assert not queues.view.has_children("root.p")
    assert other.view != queues.view == tree([{"name": "p", "parent": True}]).view


def test_the_nearest_queue_is_the_lowest_that_exists():
    """Whatever the case of its name; for a path from elsewhere it is the root."""
    queues = tree(DEEP)
    assert queues.view.nearest("root.A.B.x.y").path == "root.a.b"
    assert queues.view.nearest("rootbeer.a").path == "root"


@pytest.mark.parametrize(
    ("levels", "codes"), [(7, set()), (8, {"invalid_queue_name"}), (20, {"invalid_queue_name"})]
)
def test_a_configured_path_has_a_longest(levels, codes):
    """No application could be placed in a longer one; it is told once, not of all queues below it."""
    queues = []
    for _ in range(levels):
        queues = [{"name": "q" * 64, "queues": queues}]
    assert read({"queues": [{"name": "root", "queues": queues}]}).codes == codes


def test_a_tree_can_not_be_changed_by_who_reads_it():
    """Neither its queues nor what their configuration says."""
    queues = tree([{"name": "p", "resources": {"max": {"memory": "1"}}}]).view
    assert not any(hasattr(queues, name) for name in ("create", "apply", "clean", "renew_templates"))
    for change in (queues.get("root.p").config.max, queues.get("root.p").config.properties):
        with pytest.raises(TypeError, match="does not support item assignment"):
            change["memory"] = 0
