"""The tree of accounting groups, and the group of a submitter.

Source: HTCondor 25.14, ``GROUP_NAMES``: dots separate the levels, names are compared without regard to case (ASCII), a
name whose parent is not listed is ignored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import attrs

from negotiator_fairshare.groups.settings import ROOT_GROUP, ConfiguredGroup


@attrs.frozen
class GroupNode:
    """A group of the tree with the names of its parent (None for the root) and children."""

    group: ConfiguredGroup
    parent: str | None
    children: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name as configured."""
        return self.group.name


@attrs.frozen
class GroupTree:
    """Groups by name, breadth first: the root ``<none>``, then each level in alphabetical order.

    ``ignored`` are configured groups that are not part of the tree: their parent is not listed.
    """

    nodes: Mapping[str, GroupNode]
    ignored: tuple[str, ...] = ()

    @classmethod
    def of_groups(cls, groups: Sequence[ConfiguredGroup], *, autoregroup: bool = False) -> GroupTree:
        """Return the tree of the groups; if a name is listed twice the first is used.

        ``autoregroup`` is that of the root.
        """
        by_key: dict[str, ConfiguredGroup] = {}
        children: dict[str, list[str]] = {"": []}
        ignored = []
        for group in sorted(groups, key=lambda each: folded(each.name)):
            key = folded(group.name)
            parent = key.rpartition(".")[0]
            if key in by_key:
                continue
            if parent not in children:
                ignored.append(group.name)
                continue
            by_key[key] = group
            children[key] = []
            children[parent].append(key)
        root = ConfiguredGroup(ROOT_GROUP, accept_surplus=True, autoregroup=autoregroup)
        return cls(MappingProxyType(_breadth_first(root, by_key, children)), tuple(ignored))

    @property
    def root(self) -> GroupNode:
        """The group of submitters without a group."""
        return self.nodes[ROOT_GROUP]

    @property
    def is_flat(self) -> bool:
        """True if there is only the root: submitters negotiate without groups."""
        return len(self.nodes) == 1

    def upwards(self, name: str) -> Iterator[GroupNode]:
        """Yield a group and all groups above it, the root last."""
        node: GroupNode | None = self.nodes[name]
        while node is not None:
            yield node
            node = self.nodes[node.parent] if node.parent is not None else None

    def children(self, node: GroupNode) -> Iterator[GroupNode]:
        """Yield the groups directly below."""
        return (self.nodes[name] for name in node.children)

    def group_of(self, submitter: str) -> str:
        """Return the group of a submitter: of ``a.b.user@domain`` the group ``a.b``, else the nearest known one above.

        A name without ``@`` is itself the name of a group.
        """
        user, at, _domain = submitter.rpartition("@")
        path = folded(user.rpartition(".")[0] if at else submitter)
        while path and path not in self._names:
            path = path.rpartition(".")[0]
        return self._names.get(path, ROOT_GROUP)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """The names as configured, by names in lower case."""
        return {folded(name): name for name in self.nodes}


def folded(name: str) -> str:
    """Return a name in lower case (ASCII letters only): equal exactly if the names are equal."""
    return name.lower() if name.isascii() else "".join(c.lower() if c.isascii() else c for c in name)


def _breadth_first(
    root: ConfiguredGroup, by_key: Mapping[str, ConfiguredGroup], children: Mapping[str, Sequence[str]]
) -> dict[str, GroupNode]:
    nodes = {}
    waiting: deque[tuple[str, ConfiguredGroup, str | None]] = deque([("", root, None)])
    while waiting:
        key, group, parent = waiting.popleft()
        below = [(child, by_key[child]) for child in children[key]]
        nodes[group.name] = GroupNode(group, parent, tuple(child.name for _, child in below))
        waiting.extend((child, configured, group.name) for child, configured in below)
    return nodes
