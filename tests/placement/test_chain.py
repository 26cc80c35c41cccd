"""The chain of rules: the first rule that returns a queue places an application, and every step is in the trace."""

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.hooks import specs
from negotiator.hooks.answers import Attributed
from negotiator.hooks.placement import Application, PlacementRule, QueueTarget
from negotiator.hooks.plugin_output import plugin_output_to_stderr
from negotiator.placement import AccessCache, make_chain
from negotiator.placement.chain import Proposal, QueueLevel, walk
from negotiator.queues import QueueConfig, QueueTree
from negotiator.queues.names import LONGEST_PATH, ROOT
from yunikorn_pool import NOW, Pool, bundle, read

QUEUES = [
    {
        "name": "root",
        "queues": [
            {"name": "open", "submitacl": "*"},
            {"name": "closed", "adminacl": "boss"},
            {"name": "users", "parent": True, "submitacl": "sue dev"},
        ],
    }
]
RULES = [
    {"name": "provided", "create": True},
    {
        "name": "user",
        "create": True,
        "parent": {
            "name": "tag",
            "value": "Dept",
            "create": True,
            "parent": {"name": "fixed", "value": "users"},
        },
    },
]
NAMES = st.sampled_from(
    ["", "open", "root.open", "root.OPEN", "root.closed", "root.users.a", "root.users", "root.x!"]
)
APPLICATIONS = st.builds(
    Application,
    user=st.sampled_from(["sue", "bob", "boss", "a.b"]),
    groups=st.sampled_from([(), ("dev",)]),
    queue=NAMES,
    tags=st.sampled_from([{}, {"dept": "hr"}, {"dept": "a.b"}]),
    forced=st.booleans(),
)


def pool(rules=RULES, queues=QUEUES):
    reading = read({"queues": queues, "placementrules": rules})
    assert reading.codes == set()
    return Pool.of(reading)


def place(pool, *applications):
    return pool.chain.place(applications, pool.queues, pool.book, NOW)


def codes(placement):
    return [step.code for step in placement.steps]


@given(st.lists(APPLICATIONS, max_size=6))
def test_placing_together_equals_placing_one_by_one(applications):
    """A queue created for one application exists for the next."""
    together, alone = pool(), pool()
    placements, changes = place(together, *applications)
    singly = [place(alone, each) for each in applications]
    assert [placement for (placement,), _ in singly] == list(placements)
    assert tuple(change for _, made in singly for change in made) == changes
    assert alone.queues.view == together.queues.view


@given(APPLICATIONS)
def test_a_placed_user_may_submit_to_the_queue(application):
    """Which is a leaf; the recovery queue is for forced applications, without an access check."""
    own = pool()
    (placed,), _ = place(own, application)
    if placed.queue == "root.@recovery@":
        assert application.forced
    elif placed.placed:
        assert own.access({"user": application.user, "groups": application.groups, "queue": placed.queue})[
            "submit"
        ]
        assert own.queues.view.get(placed.queue).leaf


def test_a_constant_rule_below_a_filtered_one_is_evaluated_for_each_user():
    """Users are placed together as each alone."""
    above = {"name": "fixed", "value": "users", "filter": {"users": ["sue"]}}
    own = pool([{"name": "fixed", "value": "new", "create": True, "parent": above}])
    placed, _ = place(own, Application("sue"), Application("boss"), Application("sue"))
    assert [each.queue for each in placed] == ["root.users.new", "", "root.users.new"]
    placed, _ = place(own, Application("boss"), Application("sue"))
    assert [each.queue for each in placed] == ["", "root.users.new"]


def test_each_tried_rule_is_in_the_trace():
    """With its value, why it did not place the application, its plugin, and its place in the file."""
    (placed,), changes = place(pool(), Application("sue", queue="closed", tags={"dept": "hr"}))
    assert placed.queue == "root.users.hr.sue"
    first, second = placed.steps
    assert (first.rule, first.queue, first.code) == ("provided", "root.closed", "access_denied")
    assert "sue" in first.text
    assert (second.rule, second.queue, second.code) == ("user", "root.users.hr.sue", "matched")
    assert second.text == "submitacl of root.users has user sue"
    assert (second.plugin, second.source.file) == ("placement", "queues.yaml")
    assert second.source.line > first.source.line > 1
    assert [change.path for change in changes] == ["root.users.hr", "root.users.hr.sue"]


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        (f"root.{200 * 'x'}!", f"invalid queue name '{80 * 'x'}'"),
        (
            "root" + 249 * ".x" + ".xyz",
            f"'root{38 * '.x'}'... has 506 characters: a queue's path has at most 500",
        ),
    ],
)
def test_the_text_of_a_rejection_shows_80_characters_of_a_queue(queue, text):
    (placed,), _ = place(pool(), Application("sue", queue=queue))
    assert placed.steps[-1].text == text


STOPPING = {
    "root.x!": "invalid_queue_name",
    "root..x": "invalid_queue_name",
    "root.open.x": "create_under_leaf",
}


@pytest.mark.parametrize(("queue", "code"), STOPPING.items())
def test_an_error_of_a_rule_rejects_at_once(queue, code):
    """Later rules, and recovery, are not tried."""
    application = Application("sue", queue=queue, tags={"dept": "hr"}, forced=True)
    (placed,), changes = place(pool(), application)
    assert (placed.queue, placed.code, codes(placed), changes) == ("", code, [code], ())


@pytest.mark.parametrize("queue", ["root.open.{}", "{}"])
def test_a_path_that_is_too_long_rejects_at_once(queue):
    """Each of its levels would be created and reported: one job could exhaust the memory."""
    rules = [{"name": "provided", "create": True, "parent": {"name": "fixed", "value": "root.users"}}]
    longest = LONGEST_PATH - len("root.users.")
    own = pool(rules)
    for levels in (1_000, 5_000):
        (placed,), changes = place(own, Application("sue", queue=queue.format(".".join("a" * levels))))
        assert (placed.code, codes(placed), changes) == ("invalid_queue_name", ["invalid_queue_name"], ())
    whole = "root.users." + ".".join(["a" * 60] * 9)[:longest]
    (placed,), _ = place(own, Application("sue", queue=whole))
    assert (placed.code, len(placed.queue)) == ("matched", LONGEST_PATH)
    (placed,), _ = place(own, Application("sue", queue=whole + "a"))
    assert placed.code == "invalid_queue_name"


@pytest.mark.parametrize("queue", ["root.@recovery@", "root.@RECOVERY@"])
def test_the_recovery_queue_is_reserved(queue):
    """Whatever access control lists grant, and whether or not it exists."""
    own = pool([{"name": "provided", "create": True}], [{"name": "root", "submitacl": "*"}])
    for _ in range(2):
        (placed,), _ = place(own, Application("sue", queue=queue))
        assert (placed.code, codes(placed)) == ("no_rule_matched", ["queue_reserved"])
        place(own, Application("sue", forced=True))


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("queue", ["root.@recovery@.x", "root.@RECOVERY@.x.y"])
def test_no_queue_is_created_below_the_recovery_queue(queue, forced):
    """As a parent queue it could take no application."""
    everybody = [{"name": "root", "submitacl": "*"}]
    own = pool([{"name": "provided", "create": True}], everybody)
    (placed,), _ = place(own, Application("sue", queue=queue, forced=forced))
    assert codes(placed)[0] == "queue_reserved"
    assert placed.queue == ("root.@recovery@" if forced else "")


def test_the_fallback_is_last_and_its_access_list_applies():
    """If it is configured: by default applications that no rule places are rejected."""
    reading = read({"queues": QUEUES, "placementrules": [{"name": "provided"}]})
    types = bundle().hooks.ask(specs.negotiator_placement_rules).records
    for fallback, user, code, queue in (
        ("", "sue", "no_rule_matched", ""),
        ("root.open", "sue", "matched", "root.open"),
        ("root.closed", "sue", "no_rule_matched", ""),
        ("root.closed", "boss", "matched", "root.closed"),
    ):
        own = Pool.of(reading)
        own.chain, problems = make_chain(reading.partition, types, fallback)
        (placed,), changes = place(own, Application(user, queue="missing"))
        assert (problems, placed.code, placed.queue, changes) == ((), code, queue, ())
        assert [step.rule for step in placed.steps] == (
            ["provided", "fallback"] if fallback else ["provided"]
        )


@pytest.mark.parametrize("fallback", ["root.users", "root.gone", "open"])
def test_a_fallback_that_is_not_a_configured_leaf_is_refused(fallback):
    """No application could ever be placed there."""
    reading = read({"queues": QUEUES, "placementrules": [{"name": "provided"}]})
    own, (problem,) = make_chain(
        reading.partition, bundle().hooks.ask(specs.negotiator_placement_rules).records, fallback
    )
    assert own is None
    assert fallback in problem.message


def test_the_message_of_a_missing_fallback_shows_80_characters_of_it():
    reading = read({"queues": QUEUES, "placementrules": [{"name": "provided"}]})
    types = bundle().hooks.ask(specs.negotiator_placement_rules).records
    _, (problem,) = make_chain(reading.partition, types, "root." + 200 * "x")
    assert problem.message == f"placement: fallback: 'root.{75 * 'x'}' is not a configured queue"


def raising(_application, _rule):
    raise RuntimeError("no directory")


def ending(_application, _rule):
    raise SystemExit(7)


BROKEN = {
    "ends the program": (ending, "SystemExit: 7"),
    "raises": (raising, "RuntimeError: no directory"),
    "gives a text": (lambda _application, _rule: "root.open", "expected a QueueTarget or None, got str"),
    "gives a whole path that is not below the root": (
        lambda _application, _rule: QueueTarget("open", qualified=True),
        "expected a qualified QueueTarget to begin at the root",
    ),
    "gives a path that is no text": (
        lambda _application, _rule: QueueTarget(5),
        "expected a QueueTarget or None",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_failed_rule_rejects_its_application(what):
    """The plugin is named, and no later rule admits what the failed one might have rejected."""
    target, words = BROKEN[what]
    own_type = Attributed(PlacementRule(name="mine", target=target), "tiny", "1.2")
    types = (own_type, *bundle().hooks.ask(specs.negotiator_placement_rules).records)
    rules = [{"name": "mine"}, {"name": "fixed", "value": "open"}]
    partition = read({"queues": QUEUES, "placementrules": rules}).partition
    chain, problems = make_chain(partition, types)
    queues = QueueTree.of(partition.root, NOW).mutable()
    book = AccessCache(bundle().hooks, bundle().settings, queues.view)
    placements, _ = chain.place([Application("sue", forced=True)], queues, book, NOW)
    assert (problems, placements[0].code) == ((), "plugin_error")
    (failure,) = chain.failures(placements)
    assert (failure.plugin, failure.version, failure.hook) == ("tiny", "1.2", "negotiator_placement_rules")
    assert words in failure.message


def test_two_plugins_cannot_define_the_same_rule():
    """Nor can a plugin redefine a rule of the core, since the deciding one would be arbitrary."""
    types = bundle().hooks.ask(specs.negotiator_placement_rules).records
    for name in ("user", "recovery"):
        second = Attributed(PlacementRule(name=name, target=lambda *_: None), "tiny", "1.2")
        chain, (problem,) = make_chain(read({"queues": QUEUES}).partition, (*types, second))
        assert (chain, problem.code) == (None, "rule_defined_twice")
        assert f"placement rule {name} of plugin tiny already belongs to" in problem.message


def test_the_tags_of_rules_are_declared():
    """Those of parent rules too, in lower case: no other attributes of a job are read for them."""
    assert pool().chain.tags == {"dept"}


UNREADABLE = {
    "raises": lambda _value: 1 / 0,
    "ends the program": lambda _value: sys.exit(5),
    "has no end": lambda _value: itertools.repeat("dept"),
    "no texts": lambda _value: [1],
    "no list": lambda _value: None,
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_rule_that_fails_to_declare_its_tags_refuses_the_bundle(what):
    """The problem names the plugin and has the place of the rule; the program does not end."""
    mine = PlacementRule(name="mine", target=lambda *_: None, tags=UNREADABLE[what])
    partition = read({"queues": QUEUES, "placementrules": [{"name": "mine"}]}).partition
    chain, (problem,) = make_chain(partition, [Attributed(mine, "tiny", "1.2")])
    assert (chain, problem.code, problem.source.file) == (None, "plugin_error", "queues.yaml")
    assert "plugin tiny: rule mine: " in problem.message


def test_output_of_a_rule_goes_to_standard_error(capsys):
    """Another program may read standard output."""
    mine = PlacementRule(name="mine", target=lambda *_: print("seen"))  # noqa: T201 - what is tested
    partition = read({"queues": QUEUES, "placementrules": [{"name": "mine"}]}).partition
    chain, _ = make_chain(partition, [Attributed(mine, "tiny", "1.2")])
    queues = QueueTree.of(partition.root, NOW).mutable()
    book = AccessCache(bundle().hooks, bundle().settings, queues.view)
    with plugin_output_to_stderr():
        chain.place([Application("sue")], queues, book, NOW)
    assert capsys.readouterr() == ("", "seen\n")


def level(path, *, create=False):
    return QueueLevel(path, create=create, rule="r")


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([level("root.full.child")], ("root.full.child", "")),
        ([level("root.full"), level("root.full.child")], ("root.full.child", "")),
        ([level("gone")], ("gone", "queue_missing")),
        ([level("gone", create=True)], ("gone", "")),
        ([level("gone"), level("gone.x", create=True)], ("gone", "queue_missing")),
        ([level("root.leaf"), level("root.leaf.x", create=True)], ("root.leaf", "parent_is_leaf")),
        ([level("root.leaf")], ("root.leaf", "")),
    ],
)
def test_each_level_of_a_path_exists_or_may_be_created_and_none_but_the_last_is_a_leaf(levels, expected):
    full = QueueConfig("root.full", leaf=False, children=(QueueConfig("root.full.child", leaf=True),))
    root = QueueConfig(ROOT, leaf=False, children=(QueueConfig("root.leaf", leaf=True), full))
    path, code, text = walk(Proposal(tuple(levels)), QueueTree.of(root, NOW))
    assert (path, code) == expected
    assert bool(text) is bool(code)
