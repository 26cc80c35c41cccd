"""Checks of ``queues.yaml``: the largest numbers that are accepted, and what the problems say."""

import pytest

from negotiator.records import Severity
from yunikorn_pool import document, read

LONG = 200 * "x"
#: A name with an invalid character.
INVALID = f"!{LONG}"


def root(*queues, **keys):
    return {"queues": [{"name": "root", "queues": list(queues), **keys}]}


def queue(name="a", *queues, limits=(), **keys):
    below = {"queues": list(queues)} if queues else {}
    return {"name": name, **below, **({"limits": list(limits)} if limits else {}), **keys}


def limit(applications=0, memory=None, **names):
    resources = {} if memory is None else {"maxresources": {"memory": memory}}
    return {"limit": "", "maxapplications": applications, **resources, **(names or {"users": ["sue"]})}


def memory(maximum=None, guaranteed=None):
    amounts = {"max": maximum, "guaranteed": guaranteed}
    return {"resources": {key: {"memory": amount} for key, amount in amounts.items() if amount is not None}}


#: A configuration for a number; the number is accepted, and one more refused, with the code.
LARGEST = {
    "applications of a child": (
        lambda n: root(queue("a", queue("b", maxapplications=n), maxapplications=5)),
        5,
        "queue_maxapps_exceeds_parent",
    ),
    "applications of a user": (
        lambda n: root(queue(maxapplications=5, limits=[limit(n)])),
        5,
        "limit_maxapps_exceed_queue",
    ),
    "applications of a user below a limited queue": (
        lambda n: root(
            queue("a", queue("b", queue("c", maxapplications=4, limits=[limit(n)]), maxapplications=4))
        ),
        4,
        "limit_maxapps_exceed_queue",
    ),
    "applications of a user below": (
        lambda n: root(queue("a", queue("b", limits=[limit(n)]), limits=[limit(5)])),
        5,
        "limit_user_maxapps_exceed_ancestor",
    ),
    "applications of a group below a wildcard": (
        lambda n: root(
            queue(
                "a",
                queue("b", limits=[limit(n, groups=["dev"])]),
                limits=[limit(9, groups=["ops"]), limit(5, groups=["*"])],
            )
        ),
        5,
        "limit_group_maxapps_exceed_ancestor_wildcard",
    ),
    "applications that can be counted": (lambda n: root(queue(maxapplications=n)), 2**64 - 1, "yaml_schema"),
    "memory of a child": (
        lambda n: root(queue("a", queue("b", **memory(n)), **memory(10))),
        10,
        "child_max_exceeds_parent_max",
    ),
    "guaranteed memory": (lambda n: root(queue(**memory(10, n))), 10, "guaranteed_exceeds_max"),
    "guaranteed memory of children": (
        lambda n: root(
            queue("a", queue("b", **memory(None, 4)), queue("c", **memory(None, n)), **memory(None, 10))
        ),
        6,
        "children_guaranteed_exceed_parent_guaranteed",
    ),
    "guaranteed memory of children of a limited queue": (
        lambda n: root(
            queue("a", queue("b", **memory(None, 4)), queue("c", **memory(None, n)), **memory(10))
        ),
        6,
        "children_guaranteed_exceed_max",
    ),
    "memory of a user": (
        lambda n: root(queue(**memory(10), limits=[limit(memory=n)])),
        10,
        "limit_resources_exceed_queue",
    ),
    "memory of a user below": (
        lambda n: root(queue("a", queue("b", limits=[limit(memory=n)]), limits=[limit(memory=10)])),
        10,
        "limit_user_resources_exceed_ancestor",
    ),
}


@pytest.mark.parametrize("case", LARGEST)
def test_a_number_may_equal_its_bound_and_not_exceed_it(case):
    made, largest, code = LARGEST[case]
    assert (read(made(largest)).codes, read(made(largest + 1)).codes) == (set(), {code})


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (root(queue("a", queue("b"), maxapplications=5)), "queue_maxapps_unset_under_limited_parent"),
        (root(queue(limits=[limit()])), "limit_nothing_set"),
        (root(queue(limits=[limit(memory=0)])), "limit_resources_zero"),
        (root(queue(limits=[limit(1, groups=["*"])])), "limit_group_wildcard_alone"),
        (root(queue(limits=[limit(1, users=[], groups=[])])), "limit_names_missing"),
        (root(queue(limits=[limit(1), limit(2)])), "limit_duplicate_user"),
        (root(queue(limits=[limit(1, users=["*"]), limit(2)])), "limit_user_after_wildcard"),
        (root(queue("a"), queue("A")), "duplicate_queue"),
        (root(**memory(10)), "root_resources_set"),
        ({**root(), "limits": [limit(1)]}, None),
        ({**root(limits=[limit(1)]), "limits": [limit(1)]}, None),
        ({**root(limits=[limit(1)]), "limits": [limit(2)]}, "limits_partition_root_differ"),
        ({**root(), "nodesortpolicy": {"type": "fair", "resourceweights": {"memory": 0}}}, None),
        ({**root(), "nodesortpolicy": {"resourceweights": {"memory": -1}}}, "node_weight_negative"),
        ({**root(), "nodesortpolicy": {"resourceweights": {"memory": "x"}}}, "yaml_schema"),
        ({**root(), "nodesortpolicy": {"type": "random"}}, "node_sort_policy_unknown"),
    ],
)
def test_an_inconsistent_configuration_has_one_error(config, code):
    assert read(config).codes == ({code} if code else set())


@pytest.mark.parametrize(
    ("config", "text", "message"),
    [
        (root(queue(INVALID)), INVALID[:80], "invalid queue name {!r}"),
        (root(queue(submitacl=f"{LONG} a b")), LONG[:80], "submitacl: more than one space in {!r}"),
        (
            root(queue(maxapplications=INVALID)),
            INVALID[:40],
            "maxapplications: expected a non-negative whole number, got {!r}",
        ),
        (root(queue(limits=[limit(1, users=[INVALID])])), INVALID[:80], "invalid user name {!r}"),
        (root(queue(limits=[limit(1, users=[LONG, LONG])])), LONG[:80], "duplicate limit for user {}"),
        (
            root(queue(limits=[limit(1, users=["*"]), limit(1, users=[LONG])])),
            LONG[:80],
            "user {} comes after the wildcard, which matches all",
        ),
        ({**root(), "nodesortpolicy": {"type": INVALID}}, INVALID[:80], "unknown node sorting policy {!r}"),
        (
            {**root(), "nodesortpolicy": {"resourceweights": {LONG: "x"}}},
            LONG[:80],
            "the weight of {} must be a number",
        ),
        (
            {**root(), "nodesortpolicy": {"resourceweights": {LONG: -1}}},
            LONG[:80],
            "the weight of {} is negative",
        ),
    ],
)
def test_a_message_shows_the_beginning_of_a_long_text(config, text, message):
    (problem,) = [each for each in read(config).problems if each.severity is Severity.ERROR]
    assert problem.message == message.format(text)
    lines = document(config).splitlines()
    assert 100 * "x" in "".join(lines[problem.source.line - 2 : problem.source.line])  # "? key" and ": value"


def test_an_error_of_a_partition_or_of_the_root_queue_has_its_line():
    twice = {"partitions": [{"name": "default", **root()}, {"name": "Default", **root()}]}
    top = root(**memory(10))
    for config, code, text in (
        (twice, "duplicate_partition", "name: Default"),
        (top, "root_resources_set", "max:"),
    ):
        problem = next(each for each in read(config).problems if each.code == code)
        assert text in document(config).splitlines()[problem.source.line - 1]


def test_the_error_of_a_blank_list_shows_80_of_its_spaces():
    (problem,) = read(root(queue(submitacl=200 * " "))).problems
    assert problem.message == f"submitacl: blank list {80 * ' '!r}: an empty list is '' or a single space"


def test_a_warning_shows_five_of_the_names_that_never_match_and_40_characters_of_each():
    names = [f"!{number}{LONG}" for number in range(6)]
    (problem,) = read(root(queue(submitacl=",".join(names)))).problems
    assert problem.severity is Severity.WARNING
    assert problem.message.endswith(f"never match: {', '.join(repr(name[:40]) for name in names[:5])}")


@pytest.mark.parametrize(
    ("config", "warned"),
    [
        (root(queue(**memory(0))), True),
        (root(queue(**memory(1))), False),
        (root(queue(childtemplate={"maxapplications": 1})), True),
        (root(queue(parent=True, childtemplate={"maxapplications": 1})), False),
        (root(queue(limits=[limit(1, users=["sue", "*"])])), True),
        (root(queue(limits=[limit(1, users=["sue"]), limit(1, users=["*"])])), False),
        (root(queue("@recovery@")), True),
        (root(queue("a", queue("@recovery@"))), False),
    ],
)
def test_settings_that_are_probably_not_intended_have_a_warning(config, warned):
    found = [each.severity for each in read(config).problems]
    assert found == ([Severity.WARNING] if warned else [])


def test_a_maximum_of_zero_is_compared_with_limits_and_not_in_effect():
    """As in YuniKorn."""
    reading = read(root(queue(**memory(0), limits=[limit(memory=5)])))
    assert reading.codes == {"limit_resources_exceed_queue"}
    assert reading.partition.root.children[0].max == {}
