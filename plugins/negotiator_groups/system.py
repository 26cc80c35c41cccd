"""Asks the group database of the system, and remembers what it said.

Source: getpwnam(3), getgrouplist(3), getgrgid(3). The database can't tell a user that does not exist from a directory
server that does not answer: both are unknown users, and are asked about again when their answer is too old.
"""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable, Iterable
from functools import cache

import attrs

from negotiator_groups.names import is_name

MAX_USERS = 100_000  # whose answers are remembered; the oldest are forgotten first


@attrs.frozen
class _Answer:
    at: float
    groups: tuple[str, ...] | None  # None: the system does not know the user


@attrs.define(eq=False)
class SystemGroups:
    """The groups that the system knows, each answer believed for ``seconds``."""

    seconds: float
    _answers: dict[str, _Answer] = attrs.field(init=False, factory=dict)

    def find(self, users: Iterable[str], now: float) -> dict[str, tuple[str, ...]]:
        """Give the groups of those users that the system knows, at ``now``, in seconds since the epoch."""
        name_of = cache(_group_name)
        found: dict[str, tuple[str, ...]] = {}
        for user in users:
            answer = self._answers.get(user)
            # A clock that was set back would make an answer last until it has caught up.
            if answer is None or not 0 <= now - answer.at < self.seconds:
                answer = _Answer(now, _groups_of(user, name_of))
                self._remember(user, answer)
            if answer.groups is not None:
                found[user] = answer.groups
        return found

    def _remember(self, user: str, answer: _Answer) -> None:
        self._answers.pop(user, None)
        self._answers[user] = answer
        if len(self._answers) > MAX_USERS:
            del self._answers[next(iter(self._answers))]


def _groups_of(user: str, name_of: Callable[[int], str | None]) -> tuple[str, ...] | None:
    if not is_name(user):
        return None
    try:
        entry = pwd.getpwnam(user)
    except (
        KeyError,
        UnicodeEncodeError,
    ):  # a name that the encoding of the system does not have is no user of it
        return None
    ids = (entry.pw_gid, *os.getgrouplist(entry.pw_name, entry.pw_gid))
    return tuple(dict.fromkeys(name for name in map(name_of, ids) if name is not None))


def _group_name(number: int) -> str | None:
    try:
        name = grp.getgrgid(number).gr_name
    except KeyError:
        return None
    return name if is_name(name) else None
