"""Which names a filter of a rule is for: wildcards, groups, exclusions.

Source: sge_resource_quota(5); "Resource Quota Sets", grammar. What a filter leaves out wins over what it names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from negotiator.plugin import Mask
from negotiator_quotasets.complexes import has_wildcards, matcher
from negotiator_quotasets.language import GROUP, NameFilter


def is_for(
    wanted: NameFilter | None,
    value: str | None,
    matches: Callable[[str, str], object] = lambda name, value: matcher(name)(value),
) -> bool:
    """Whether a filter is for one name; None is the name of a job that has none, such as one without a project.

    :param matches: whether an entry of the filter is for a name.
    """
    if wanted is None:
        return True
    if value is None:
        return not wanted.names
    if any(matches(name, value) for name in wanted.excluded):
        return False
    return not wanted.names or any(matches(name, value) for name in wanted.names)


def is_for_user(
    wanted: NameFilter | None, user: str, groups: Collection[str], usersets: Mapping[str, Collection[str]]
) -> bool:
    """Whether a filter is for a user: by name, or by a userset that has the user or one of the user's groups."""

    def matches(name: str, value: str) -> bool:
        if not name.startswith(GROUP):
            return bool(matcher(name)(value))
        named = not value.startswith(GROUP)  # else it would be taken for a group among the members
        return any(
            (named and value in members) or any(GROUP + group in members for group in groups)
            for userset, members in usersets.items()
            if matcher(name[1:])(userset)
        )

    return is_for(wanted, user, matches)


class Hosts:
    """The hosts of a pool, each once: which of them filters are for. Names of hosts have no case.

    :param names: the names, (H,).
    :param groups: the members of each host group, hosts and other groups; the names of groups begin with ``@``.
    :param ignore_domain: whether a host is also known by its name without its domain (``ignore_fqdn`` of
        sge_bootstrap(5)).
    """

    def __init__(
        self, names: Sequence[str], groups: Mapping[str, Sequence[str]], *, ignore_domain: bool = True
    ) -> None:
        self.names = names
        self._groups = {name.lower(): members for name, members in groups.items()}
        self._ignore_domain = ignore_domain
        self._rows: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            for each in {name.lower(), self._short(name.lower())}:
                self._rows.setdefault(each, []).append(row)
        self._known: dict[str, Mask] = {}

    def __len__(self) -> int:
        return len(self.names)

    def mask(self, wanted: NameFilter) -> Mask:
        """Which hosts a filter is for, (H,)."""
        found = np.zeros(len(self), np.bool_) if wanted.names else np.ones(len(self), np.bool_)
        for name in wanted.names:
            found |= self.named(name)
        for name in wanted.excluded:
            found &= ~self.named(name)
        return found

    def named(self, name: str) -> Mask:
        """Which hosts one entry of a filter is for, (H,); not to be changed."""
        known = self._known.get(name)
        if known is None:
            known = np.zeros(len(self), np.bool_)
            for host in self._hosts(name.lower()):
                known[self._find(host)] = True
            self._known[name] = known
        return known

    def spelled(self, name: str) -> str:
        """A host's name as the pool has it; any other as it is."""
        rows = self._rows.get(name.lower(), ())
        return self.names[rows[0]] if len(rows) == 1 else name

    def _hosts(self, name: str) -> Iterator[str]:
        """The host names and patterns that an entry stands for."""
        if not name.startswith(GROUP):
            yield name
            return
        matches = matcher(name)
        waiting, seen = [each for each in self._groups if matches(each)], set[str]()
        while waiting:
            group = waiting.pop()
            if group in seen:
                continue
            seen.add(group)
            for member in self._groups.get(group, ()):
                if member.startswith(GROUP):
                    waiting.append(member.lower())
                else:
                    yield member.lower()

    def _find(self, name: str) -> list[int]:
        if not has_wildcards(name):
            return self._rows.get(name) or self._rows.get(self._short(name), [])
        matches = matcher(name)
        return [row for host, rows in self._rows.items() if matches(host) for row in rows]

    def _short(self, name: str) -> str:
        return name.partition(".")[0] if self._ignore_domain else name


def queue_matches(name: str, queue: str) -> bool:
    """Whether an entry of a filter is for a queue: a leaf's name, or, with a dot, a path, with or without its root.

    Names of queues have no case.
    """
    matches, queue = matcher(name.lower()), queue.lower()
    if "." not in name:
        return bool(matches(queue.rpartition(".")[2]))
    return bool(matches(queue) or matches(queue.removeprefix("root.")))


def joined(parts: Iterable[str]) -> str:
    """The values of expanded filters as Grid Engine names a counter: ``alice////lxa/``."""
    return "".join(f"{part}/" for part in parts)
