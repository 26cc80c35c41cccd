"""The user that a question is about, with their groups."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator.bundle import Bundle
from negotiator.cycle.group_names import groups_of
from negotiator.cycle.group_names import is_name as is_name
from negotiator.errors import InvalidCallError
from negotiator.hooks.answers import HookFailure


@attrs.frozen
class Subject:
    """A user with their groups; ``failures`` are plugins that failed when the groups were looked up.

    ``known`` is False if no plugin knew the user and one failed, so that a cycle might find other groups.
    """

    user: str
    groups: tuple[str, ...]
    origin: str  # of the groups, for people
    known: bool = True
    failures: tuple[HookFailure, ...] = ()

    def __str__(self) -> str:
        """``user sue, groups dev, ops (from plugins)``."""
        noun = "group" if len(self.groups) == 1 else "groups"
        return f"user {self.user}, {noun} {', '.join(self.groups) or 'none'} ({self.origin})"


def resolve_subject(bundle: Bundle, user: str, groups: Sequence[str], now: float) -> Subject:
    """Return a user with the given groups; without any, look them up as a cycle does.

    :raises InvalidCallError: the user is missing, or the name of a group is invalid.
    """
    if not user:
        raise InvalidCallError("missing user: use --user NAME")
    for group in groups:
        if group and not is_name(group):
            raise InvalidCallError(
                f"invalid name of a group, {group[:80]!r}: at most 200 printable characters"
            )
    if groups:
        return Subject(user, groups_of(",".join(groups)), "as given")
    found, failures = bundle.hooks.user_groups((user,), now, bundle.settings)
    if user in found:
        return Subject(user, found[user], "from plugins", failures=failures)
    origin = "a plugin failed" if failures else "no plugin knows the user"
    return Subject(user, (), origin, known=not failures, failures=failures)
