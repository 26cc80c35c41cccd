"""The limits that hold for users and groups in each queue, and the group that an application counts for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.queues import QueueConfig, QueueLimit
from negotiator.queues.checks.limits import SubjectKind
from negotiator_limits.limit_index import LimitIndex
from yunikorn_pool import read

CONFIG = """
partitions:
  - name: default
    queues:
      - name: root
        limits:
          - {users: [sue], groups: [top], maxapplications: 9}
          - {users: ["*"], maxresources: {memory: 10}}
        queues:
          - name: A
            parent: true
            limits:
              - {groups: [b, a], maxapplications: 9}
              - {groups: ["*"], maxapplications: 9}
          - name: c
"""
LIMITS = LimitIndex(read({"text": CONFIG}).partition.root)


def limit(users=(), groups=(), applications=1):
    return QueueLimit(tuple(users), tuple(groups), {}, applications, "")


@pytest.mark.parametrize(
    ("kind", "name", "path", "under"),
    [
        (SubjectKind.USER, "sue", "root", "sue"),
        (SubjectKind.USER, "bob", "root", "*"),
        (SubjectKind.USER, "bob", "root.a", None),
        (SubjectKind.USER, "bob", "root.a.made", None),
        (SubjectKind.GROUP, "b", "root.a", "b"),
        (SubjectKind.GROUP, "*", "root.a", "*"),
        (SubjectKind.GROUP, "other", "root.a", None),
        (SubjectKind.GROUP, "b", "root", None),
    ],
)
def test_a_queue_has_one_limit_for_a_name(kind, name, path, under):
    """Its own, or for users that of the wildcard; the wildcard of groups is a group itself."""
    held = LIMITS.limit(kind, name, path)
    assert (held.name if held else None) == under


def test_a_named_limit_has_nothing_of_the_wildcard():
    """It replaces the wildcard's limit as a whole: resources that it does not name are unlimited."""
    held = LIMITS.limit(SubjectKind.USER, "sue", "root")
    assert (held.applications, held.resources) == (9, {})


def test_a_limit_has_its_source():
    """In the file of the queues, with line and column."""
    assert str(LIMITS.limit(SubjectKind.USER, "bob", "root").source) == "queues.yaml:8:13"
    assert str(LIMITS.limit(SubjectKind.USER, "bob", "root")) == "limit of user * at root"


@pytest.mark.parametrize(
    ("groups", "path", "group"),
    [
        (["a", "b"], "root.a", "b"),
        (["top", "a"], "root.a.made", "a"),
        (["top"], "root.a", "*"),
        (["top"], "root.c", "top"),
        (["a"], "root.c", ""),
        (["*"], "root.c", ""),
        ([], "root.a", ""),
    ],
)
def test_the_first_queue_with_a_group_of_the_user_decides(groups, path, group):
    """From the leaf up, in the order of its limits; the wildcard matches any group, and hides the queues above."""
    assert LIMITS.group(groups, path) == group


NAMES = st.lists(st.sampled_from(["a", "b", "c", "*"]), unique=True, max_size=3)


@given(st.lists(NAMES, min_size=3, max_size=3), st.lists(st.sampled_from(["a", "b", "c"]), unique=True))
def test_groups_are_resolved_by_the_rule_of_precedence(levels, groups):
    """Level by level from the leaf: a named group before the wildcard, the first that there is."""
    root = None
    for depth in (2, 1, 0):
        path = ".".join(["root", "a", "b"][: depth + 1])
        limits = tuple(limit(groups=[name]) for name in levels[depth])
        root = QueueConfig(path, leaf=depth == 2, limits=limits, children=(root,) if root else ())
    expected = ""
    for named in levels if groups else []:
        match = [name for name in named if name in groups] or [name for name in named if name == "*"]
        expected = match[0] if match else expected
    assert LimitIndex(root).group(groups, "root.a.b") == expected
