"""The tree of accounting groups."""

import pytest

from negotiator_fairshare.groups.settings import ConfiguredGroup
from negotiator_fairshare.groups.tree import GroupTree


def tree(*names):
    return GroupTree.of_groups([ConfiguredGroup(name) for name in names])


def test_groups_are_breadth_first_and_alphabetical_without_regard_to_case():
    assert list(tree("B", "a.y", "A.x", "a", "a.X.m").nodes) == ["<none>", "a", "B", "A.x", "a.y", "a.X.m"]


def test_a_group_whose_parent_is_not_listed_is_ignored():
    found = tree("a", "b.x", "b.x.m")
    assert list(found.nodes) == ["<none>", "a"]
    assert found.ignored == ("b.x", "b.x.m")


def test_of_a_name_that_is_listed_twice_the_first_is_used():
    assert list(tree("Phys", "phys").nodes) == ["<none>", "Phys"]


def test_a_pool_without_groups_has_only_the_root():
    assert tree().is_flat
    assert not tree("a").is_flat


@pytest.mark.parametrize(
    ("submitter", "group"),
    [
        ("a.u@example.org", "a"),
        ("A.X.u@example.org", "a.x"),
        ("a.u.v@example.org", "a"),
        ("a.x.other.u@example.org", "a.x"),
        ("u@example.org", "<none>"),
        ("a@example.org", "<none>"),
        ("other.u@example.org", "<none>"),
        ("a.u@b@example.org", "a"),
        ("a.x", "a.x"),
        ("<none>", "<none>"),
    ],
)
def test_a_submitter_is_in_the_nearest_known_group(submitter, group):
    assert tree("a", "a.x").group_of(submitter) == group


def test_upwards_leads_to_the_root():
    assert [node.name for node in tree("a", "a.x").upwards("a.x")] == ["a.x", "a", "<none>"]
