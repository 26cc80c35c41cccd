"""Query the group database of the system, and cache its answers.

Source: getpwnam(3), getgrouplist(3), getgrgid(3). The database does not distinguish a missing user from a directory
server that does not answer: both are unknown users, and are queried again when the cached answer expires.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache

import attrs

from negotiator_groups.names import is_name

MAX_USERS = 100_000  # cached answers; the oldest are dropped first


@attrs.frozen
class _CachedAnswer:
    at: float
    groups: tuple[str, ...] | None  # None: an unknown user


@attrs.define(eq=False)
class SystemGroups:
    """The groups that the system knows; an answer is valid for ``seconds``."""

    seconds: float
    _answers: dict[str, _CachedAnswer] = attrs.field(init=False, factory=dict)

    def find(self, users: Iterable[str], now: float) -> dict[str, tuple[str, ...]]:
        """Return the groups of the users that the system knows.

        :param now: seconds since the epoch.
        """
        name_of = cache(_group_name)
        found: dict[str, tuple[str, ...]] = {}
        for user in users:
            answer = self._answers.get(user)
            # An answer from the future, after the clock was set back, has expired too.
            if answer is None or not 0 <= now - answer.at < self.seconds:
                answer = _CachedAnswer(now, _groups_of(user, name_of))
                self._remember(user, answer)
            if answer.groups is not None:
                found[user] = answer.groups
        return found

    def _remember(self, user: str, answer: _CachedAnswer) -> None:
        self._answers.pop(user, None)
        self._answers[user] = answer
        if len(self._answers) > MAX_USERS:
            del self._answers[next(iter(self._answers))]


def _groups_of(user: str, name_of: Callable[[int], str | None]) -> tuple[str, ...] | None:
    if not is_name(user):
        return None
    import pwd  # noqa: PLC0415 - missing on Windows

    try:
        entry = pwd.getpwnam(user)
    except (
        KeyError,
        UnicodeEncodeError,
    ):  # a name outside the system's encoding is an unknown user
        return None
    ids = (entry.pw_gid, *os.getgrouplist(entry.pw_name, entry.pw_gid))
    return tuple(dict.fromkeys(name for name in map(name_of, ids) if name is not None))


def _group_name(number: int) -> str | None:
    import grp  # noqa: PLC0415 - missing on Windows

    try:
        name = grp.getgrgid(number).gr_name
    except KeyError:
        return None
    return name if is_name(name) else None
