"""The queue of each application, compared with a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from negotiator.queues.applications import ApplicationId, ApplicationRegistry, RegisteredApplication, keys_of

SCHEDDS, USERS = ("", "a", "b.example.org"), ("ann", "bob", "\udcff", "")
QUEUES = ("root.a", "root.b", "root.c.d")
LARGEST = 2**32 - 1
GOOD = st.sampled_from((0, 1, 2, 3, LARGEST - 1, LARGEST))
ODD = st.sampled_from((-1, -(2**31), -(2**63), -(2**70), LARGEST + 1, 2**62, 2**63, 2**64 + 1, 10**30))
CLUSTERS = GOOD | ODD
#: Few, so that one thing is done to an application after the other; and any.
FEW = st.sampled_from(
    [ApplicationId("a", user, cluster) for user in ("ann", "bob") for cluster in (1, LARGEST)]
)
ANY = st.builds(ApplicationId, st.sampled_from(SCHEDDS), st.sampled_from(USERS), CLUSTERS)
IDS = FEW | ANY
TIMES = st.sampled_from((0.0, 1.0, 2.5, 1e9))


def is_kept(application):
    return 0 <= application.cluster <= LARGEST


class RegistryComparison(RuleBasedStateMachine):
    """A registry and its copies, compared with a dictionary after each operation."""

    def __init__(self):
        super().__init__()
        self.register, self.model = ApplicationRegistry(), {}
        self.mark, self.marked = self.register.mark(), {}

    def keys(self, ids):
        return np.array([self.register.key(each) for each in ids], np.int64)

    @rule(ids=st.lists(st.tuples(IDS, st.sampled_from(QUEUES) | st.none()), max_size=6), now=TIMES)
    def put(self, ids, now):
        numbers = [-1 if queue is None else self.register.number(queue) for _, queue in ids]
        self.register.put(self.keys(each for each, _ in ids), np.array(numbers, np.int32), now)
        self.model |= {each: (queue, now) for each, queue in ids if queue and is_kept(each)}

    @rule(ids=st.lists(IDS, max_size=6), now=TIMES)
    def touch(self, ids, now):
        self.register.touch(self.keys(ids), now)
        self.model |= {each: (self.model[each][0], now) for each in ids if each in self.model}

    @rule(before=TIMES, now=TIMES)
    def forget(self, before, now):
        self.model = {each: (queue, min(seen, now)) for each, (queue, seen) in self.model.items()}
        gone = [each for each, (_, seen) in self.model.items() if seen < before]
        assert self.register.forget(before, now) == len(gone)
        for each in gone:
            del self.model[each]

    @rule(application=IDS)
    def remove(self, application):
        self.register.remove(application)
        self.model.pop(application, None)

    @rule(application=IDS, queue=st.sampled_from(QUEUES), now=TIMES)
    def move(self, application, queue, now):
        self.register.move(application, queue, now)
        if is_kept(application):
            self.model[application] = (queue, now)

    @rule()
    def take_a_mark(self):
        self.mark, self.marked = self.register.mark(), dict(self.model)

    @rule(application=IDS, queue=st.sampled_from(QUEUES))
    def continue_with_a_copy(self, application, queue):
        """Later changes of the original do not affect the copy."""
        copied = self.register.copy()
        self.register.touch(self.keys(self.model), 8.0)
        self.register.move(application, queue, 7.0)
        self.register.number("root.only.there")
        self.register = copied

    @rule(ids=st.lists(IDS, max_size=8))
    def lookup(self, ids):
        found = self.register.queues_of(self.register.lookup(self.keys(ids)))
        wanted = [self.model[each][0] if each in self.model else None for each in ids]
        numbers = self.register.lookup(self.keys(ids)).tolist()
        assert [
            queue if number >= 0 else None for queue, number in zip(found, numbers, strict=True)
        ] == wanted

    @rule(schedd=st.sampled_from((*SCHEDDS, "elsewhere")), cluster=CLUSTERS)
    def find(self, schedd, cluster):
        wanted = {
            RegisteredApplication(each, *there)
            for each, there in self.model.items()
            if each.cluster == cluster and schedd in ("", each.schedd)
        }
        found = self.register.find(schedd, cluster)
        assert set(found) == wanted
        assert len(found) == len(wanted)

    @invariant()
    def holds_the_same(self):
        rows = list(self.register)
        assert {each.id: (each.queue, each.seen) for each in rows} == self.model
        assert len(self.register) == len(rows) == len(self.model)

    @invariant()
    def counts_the_same(self):
        queues = [queue for queue, _ in self.model.values()]
        assert self.register.counts() == {queue: queues.count(queue) for queue in queues}
        assert self.register.busy() == set(queues)
        paths = (*QUEUES[1:], "root.unknown")
        wanted = {
            queue: {each.user for each, (where, _) in self.model.items() if where == queue} for queue in paths
        }
        assert self.register.users(paths) == {
            queue: tuple(sorted(users)) for queue, users in wanted.items() if users
        }
        assert all(each in self.register for each in self.model)

    @rule(last=TIMES, later=TIMES, ids=st.lists(IDS, max_size=4))
    def absent_applications_that_returned_or_left_are_changes(self, last, later, ids):
        """Besides those that moved: an application is absent if it was not seen at the last look."""
        before = {each: seen if seen < last else None for each, (_, seen) in self.model.items()}
        mark = self.register.mark(last)
        self.touch(ids, later)
        after = {each: seen if seen < later else None for each, (_, seen) in self.model.items()}
        changed, gone = self.register.since(mark, later)
        assert {each.id for each in changed} == {each for each in before if before[each] != after[each]}
        assert gone == []

    @invariant()
    def reports_changes_since_the_mark(self):
        changed, gone = self.register.since(self.mark)
        assert set(gone) == self.marked.keys() - self.model.keys()
        assert {each.id: each.queue for each in changed} == {
            each: queue
            for each, (queue, _) in self.model.items()
            if each not in self.marked or self.marked[each][0] != queue
        }


TestBeside = RegistryComparison.TestCase


@given(st.lists(st.builds(RegisteredApplication, IDS, st.sampled_from(QUEUES), TIMES)))
def test_of_several_initial_entries_of_an_application_the_last_counts(entries):
    """Invalid clusters are not registered, even from a file."""
    wanted = {each.id: (each.queue, each.seen) for each in entries if is_kept(each.id)}
    assert {each.id: (each.queue, each.seen) for each in ApplicationRegistry(entries)} == wanted


@pytest.mark.parametrize(
    ("owner", "cluster", "key"),
    [
        (0, 0, 0),
        (0, LARGEST, LARGEST),
        (1, 0, 1 << 32),
        (2**31 - 2, LARGEST, 2**63 - 2**32 - 1),
        (0, -1, -1),
        (0, LARGEST + 1, -1),
        (-1, 5, -1),
    ],
)
def test_the_key_of_an_application_is_its_owner_and_its_cluster(owner, cluster, key):
    """Keys are unique up to the largest numbers; an application without a key has -1."""
    assert keys_of(np.array([owner]), np.array([cluster])).tolist() == [key]


def test_an_application_is_named_by_its_schedd_and_cluster():
    assert str(ApplicationId("node1", "ann", 12)) == "node1#12"


def test_initial_entries_are_found_and_others_are_not():
    """The one with the largest key too; nothing has changed since a mark without changes."""
    ids = [ApplicationId("node1", user, cluster) for user in ("ann", "bob") for cluster in (0, LARGEST)]
    registry = ApplicationRegistry([RegisteredApplication(each, "root.a", 1.0, "dev") for each in ids])
    unknown = ApplicationId("node1", "zoe", 1)
    keys = np.array([registry.key(each) for each in (*ids, unknown)])
    found = registry.lookup(keys)
    assert found.tolist() == [registry.number("root.a", "dev")] * 4 + [-1]
    assert registry.groups_of(found).tolist() == ["dev"] * 4 + [""]
    assert registry.since(registry.mark()) == ([], [])


def test_applications_without_a_valid_cluster_are_not_stored():
    """Neither as initial entries nor later, nor with a valid cluster but no queue."""
    odd = RegisteredApplication(ApplicationId("a", "ann", -1), "root.a", 0.0)
    assert len(ApplicationRegistry([odd])) == 0
    registry = ApplicationRegistry([odd, RegisteredApplication(ApplicationId("a", "ann", 7), "root.b", 0.0)])
    owner, queue = registry.owner("a", "ann"), registry.number("root.a", "")
    keys = keys_of(np.array([owner] * 3), np.array([-1, 8, 9]))
    registry.put(keys, np.array([queue, -1, queue], np.int32), 1.0)
    assert len(registry) == 2
    assert registry.lookup(keys).tolist() == [-1, -1, queue]
