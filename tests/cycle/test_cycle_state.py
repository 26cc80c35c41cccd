"""The canonical form of a cycle state: decoded unchanged, and refused in any other form."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import queueing
from negotiator.audit.records import records_by_kind
from negotiator.bundle import load_bundle
from negotiator.cycle.cycle_state import FORMAT, CycleState, CycleStateError
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.loop import run_cycle
from negotiator.errors import NegotiatorError
from negotiator.plugin import Cycle
from negotiator.queues import Acl, Queue, QueueConfig, QueueLimit, QueueState, QueueTree
from negotiator.queues.applications import (
    ApplicationHold,
    ApplicationId,
    ApplicationRegistry,
    RegisteredApplication,
)
from negotiator.queues.model import ChildTemplate
from negotiator.records import Source
from pools import NOW, slot, snapshot, write_bundle
from queueing import app, limited

NAMES = st.text(st.characters(exclude_characters="."), max_size=6)
TEXTS = st.text(st.characters(), max_size=6)  # lone surrogates too: they stand for bytes that are not UTF-8
TIMES = st.floats(0, 2e9)
AMOUNTS = st.dictionaries(TEXTS, st.integers(0, 2**63 - 1), max_size=3)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)
SETS = st.frozensets(TEXTS, max_size=3)
SOURCES = st.builds(Source, TEXTS, st.integers(0, 99), st.integers(0, 99))
ACLS = st.builds(Acl, SETS, SETS, st.booleans(), LISTS)
LIMITS = st.builds(QueueLimit, LISTS, LISTS, AMOUNTS, st.integers(0, 9), TEXTS, SOURCES)
PROPERTIES = st.dictionaries(TEXTS, TEXTS, max_size=2)
TEMPLATES = st.none() | st.builds(ChildTemplate, AMOUNTS, AMOUNTS, st.integers(0, 9), PROPERTIES)
CONFIGS = st.builds(
    QueueConfig,
    path=NAMES,  # no queue below another: a state has children only where the paths say so
    leaf=st.booleans(),
    submit=ACLS,
    admin=ACLS,
    guaranteed=AMOUNTS,
    max=AMOUNTS,
    applications=st.integers(0, 9),
    properties=PROPERTIES,
    template=TEMPLATES,
    limits=st.lists(LIMITS, max_size=2).map(tuple),
    source=SOURCES,
)
QUEUES = st.builds(Queue, CONFIGS, st.booleans(), TIMES, st.sampled_from(QueueState))
TREES = st.lists(QUEUES, max_size=3).map(lambda queues: QueueTree({each.path: each for each in queues}))
IDS = st.builds(ApplicationId, TEXTS, TEXTS, st.integers(0, 2**32 - 1))
REGISTERED = st.builds(RegisteredApplication, IDS, TEXTS, TIMES, TEXTS)
PLAIN_VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
ENTRIES = st.builds(
    JournalEntry,
    at=TIMES,
    groups=LISTS,
    attributes=st.lists(st.tuples(TEXTS, PLAIN_VALUES), max_size=3).map(tuple),
    is_copy=st.booleans(),
    shown=st.booleans(),
    **dict.fromkeys(
        ("id", "submitter", "schedd", "job", "slot", "queue", "user", "group", "application"), TEXTS
    ),
)
STATES = st.builds(
    CycleState,
    TREES,
    st.lists(REGISTERED, max_size=4, unique_by=lambda each: each.id).map(ApplicationRegistry),
    st.dictionaries(IDS, st.builds(ApplicationHold, TEXTS, TIMES, TEXTS), max_size=2),
    st.lists(ENTRIES, max_size=2).map(tuple),
    st.dictionaries(TEXTS, st.none() | LISTS, max_size=3),
    shared=st.booleans(),
)


def parts(state):
    """Return all parts of a state, as values that can be compared."""
    held, groups = list(state.held.items()), dict(state.groups)
    return list(state.queues), sorted(state.registry), held, state.journal, groups, state.shared


@given(STATES)
def test_a_state_is_decoded_as_it_was_encoded(state):
    decoded = CycleState.decode(state.encode())
    assert parts(decoded) == parts(state)
    assert (decoded.encode(), decoded.digest) == (state.encode(), state.digest)


@given(STATES, st.data())
def test_damaged_bytes_are_never_taken_for_another_state(state, data):
    """They are refused with a NegotiatorError, or are themselves the canonical form of a state."""
    encoded = bytearray(state.encode())
    place = data.draw(st.integers(0, len(encoded) - 1))
    encoded[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    try:
        decoded = CycleState.decode(bytes(encoded))
    except NegotiatorError:
        return
    assert decoded.encode() == bytes(encoded)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"\xff",
        b'{"format":"negotiator-cycle-state 2"}',
        b'{"format":"negotiator-cycle-state 3"}',
        b"[" * 100_000,
    ],
)
def test_other_bytes_are_refused_with_the_reason(data):
    with pytest.raises(CycleStateError, match="invalid cycle state"):
        CycleState.decode(data)


def test_a_state_with_additional_fields_is_not_canonical():
    encoded = CycleState(QueueTree({})).encode()
    assert FORMAT.encode() in encoded
    for more in (encoded + b" ", encoded.replace(b"{", b'{"a":1,', 1), encoded.replace(b"[]", b"{}", 1)):
        with pytest.raises(CycleStateError):
            CycleState.decode(more)


def test_a_cycle_decides_the_same_with_a_state_that_was_encoded(tmp_path):
    """Also about queues created by rules, and about draining queues."""
    limits = limited(
        "{limit: l, users: ['*'], maxresources: {vcore: 4}}", more="resources: {max: {vcore: 3}}"
    )
    bundle = queueing.bundle(tmp_path / "b", limits)
    amounts = {"RequestCpus": "1", "RequestMemory": "100"}
    first = [app(1, queue="root.made", **amounts), app(2, **amounts)]
    slots = [slot(number) for number in range(4)]
    state = run_cycle(snapshot(slots, first), bundle, Cycle(1, NOW, bundle.digest)).state
    queues = state.queues.mutable()
    queues.apply(attrs.evolve(bundle.partition.root, children=bundle.partition.root.children[:1]), NOW)
    state = attrs.evolve(state, queues=queues.view)
    more = [app(3, **amounts), app(4, queue="root.two", **amounts), app(5, queue="root.made", **amounts)]
    jobs = [*first, *more]
    results = [
        run_cycle(snapshot(slots, jobs), bundle, Cycle(2, NOW, bundle.digest), each)
        for each in (state, CycleState.decode(state.encode()))
    ]
    assert records_by_kind(results[0]) == records_by_kind(results[1])
    assert len(results[0].matches) == 2
    assert results[0].rejections
    assert results[0].state.digest == results[1].state.digest


BELOW_ROOT = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: students
            parent: true
            limits:
              - {limit: each, users: ["*"], maxresources: {vcore: 2}}
              - {limit: together, groups: [physics], maxresources: {vcore: 3}}
            queues:
              - {name: new}
              - {name: late, limits: [{limit: few, users: [eve], maxapplications: 1}]}
          - {name: old, limits: [{limit: l, users: ["*"], maxresources: {vcore: 1}}]}
    placementrules:
      - {name: provided, create: true}
"""


def configured(queues):
    """Return the configuration of a queue tree: each queue with its limits."""
    return sorted((each.path, each.limits) for each in queues.get("root").config.walk())


def test_limits_below_the_root_apply_with_a_decoded_state(tmp_path):
    bundle = queueing.bundle(tmp_path / "b", BELOW_ROOT, "placement: {groups: MY.Groups}\n")
    jobs = [
        app(number, user=user, queue=f"root.students.{queue}", RequestCpus="1", Groups='"physics"')
        for number, (user, queue) in enumerate(
            [("ann", "new"), ("ann", "made"), ("ann", "new"), ("ben", "new"), ("ben", "new"), ("eve", "late")]
        )
    ]
    pool = snapshot([slot(number) for number in range(9)], jobs)
    state = CycleState.new(bundle, NOW)
    cycle = Cycle(1, NOW, bundle.digest)
    results = [run_cycle(pool, bundle, cycle, each) for each in (state, CycleState.decode(state.encode()))]
    assert records_by_kind(results[0]) == records_by_kind(results[1])
    assert [len(each.matches) for each in results] == [3, 3]


def test_the_configuration_of_a_decoded_state_is_that_of_its_queues(tmp_path):
    """Without queues created by rules, and without queues removed from the configuration."""
    bundle = queueing.bundle(tmp_path / "b", BELOW_ROOT)
    queues = CycleState.new(bundle, NOW).queues.mutable()
    queues.create("root.students.made", NOW)
    queueing.drain(queues, "root.old", NOW)
    state = CycleState(queues.view)
    decoded = CycleState.decode(state.encode()).queues
    assert configured(decoded) == configured(state.queues)
    assert [path for path, _ in configured(decoded)] == [
        "root",
        "root.students",
        "root.students.late",
        "root.students.new",
    ]
    assert [each.path for each in decoded.get("root.students").config.children] == [
        "root.students.late",
        "root.students.new",
    ]


def test_under_another_bundle_a_state_has_its_queues(tmp_path):
    for name in ("old", "new"):
        write_bundle(tmp_path / name)
        queues = f"partitions: [{{name: default, queues: [{{name: root, queues: [{{name: {name}}}]}}]}}]\n"
        (tmp_path / name / "queues.yaml").write_text(queues)
    old, new = (load_bundle(tmp_path / name) for name in ("old", "new"))
    state = CycleState.new(old, NOW)
    assert [each.path for each in state.under(new, NOW + 1).queues] == ["root", "root.new"]
    assert [each.path for each in state.queues] == ["root", "root.old"]
