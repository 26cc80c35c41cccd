"""Names that a filter of a rule matches: wildcards, groups, exclusions.

Source: sge_resource_quota(5); "Resource Quota Sets", grammar. Exclusions take precedence over inclusions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from negotiator.plugin import Mask
from negotiator_quotasets.complexes import has_wildcards, matcher
from negotiator_quotasets.language import GROUP, NameFilter


def filter_matches(
    wanted: NameFilter | None,
    value: str | None,
    matches: Callable[[str, str], object] = lambda name, value: matcher(name)(value),
) -> bool:
    """True if a filter matches one name; None is the name of a job without one, such as a job without a project.

    :param matches: whether an entry of the filter matches a name.
    """
    if wanted is None:
        return True
    if value is None:
        return not wanted.names
    if any(matches(name, value) for name in wanted.excluded):
        return False
    return not wanted.names or any(matches(name, value) for name in wanted.names)


def user_filter_matches(
    wanted: NameFilter | None, user: str, groups: Collection[str], usersets: Mapping[str, Collection[str]]
) -> bool:
    """True if a filter matches a user: by name, or by a user set that has the user or one of the user's groups."""

    def matches(name: str, value: str) -> bool:
        if not name.startswith(GROUP):
            return bool(matcher(name)(value))
        # A user called @x must not match the group @x among the members.
        by_name = not value.startswith(GROUP)
        return any(
            (by_name and value in members) or any(GROUP + group in members for group in groups)
            for userset, members in usersets.items()
            if matcher(name[1:])(userset)
        )

    return filter_matches(wanted, user, matches)


class Hosts:
    """The distinct hosts of a pool, H of them, and the hosts that filters match. Host names ignore case.

    :param names: the names, (H,).
    :param groups: the members of each host group, hosts and other groups; the names of groups begin with ``@``.
    :param ignore_domain: whether a host is also matched by its name without its domain (``ignore_fqdn`` of
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
        self._entry_masks: dict[str, Mask] = {}

    def __len__(self) -> int:
        return len(self.names)

    def mask(self, wanted: NameFilter) -> Mask:
        """Return the hosts that a filter matches, (H,)."""
        matching = np.zeros(len(self), np.bool_) if wanted.names else np.ones(len(self), np.bool_)
        for name in wanted.names:
            matching |= self.entry_mask(name)
        for name in wanted.excluded:
            matching &= ~self.entry_mask(name)
        return matching

    def entry_mask(self, name: str) -> Mask:
        """Return the hosts that one entry of a filter matches, (H,); read-only, since it is cached."""
        # Sets repeat the same few host groups in many rules: each entry is resolved once for the pool.
        mask = self._entry_masks.get(name)
        if mask is None:
            mask = np.zeros(len(self), np.bool_)
            for pattern in self._patterns(name.lower()):
                mask[self._rows_of(pattern)] = True
            self._entry_masks[name] = mask
        return mask

    def canonical(self, name: str) -> str:
        """Return a host's name as the pool spells it; any other name unchanged."""
        rows = self._rows.get(name.lower(), ())
        return self.names[rows[0]] if len(rows) == 1 else name

    def groups(self) -> dict[str, list[str]]:
        """Return the hosts of each group, those of nested groups included; all names in lower case."""
        return {name: list(self._patterns(name)) for name in self._groups}

    def _patterns(self, name: str) -> Iterator[str]:
        """Yield the host names and patterns of an entry; groups nest, and may even contain each other."""
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

    def _rows_of(self, name: str) -> list[int]:
        if not has_wildcards(name):
            return self._rows.get(name) or self._rows.get(self._short(name), [])
        matches = matcher(name)
        return [row for host, rows in self._rows.items() if matches(host) for row in rows]

    def _short(self, name: str) -> str:
        return name.partition(".")[0] if self._ignore_domain else name


def joined(parts: Iterable[str]) -> str:
    """Return the values of expanded filters as Grid Engine prints a counter's name: ``alice////lxa/``."""
    return "".join(f"{part}/" for part in parts)
