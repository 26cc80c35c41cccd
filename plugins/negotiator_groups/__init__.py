"""The groups of users: from a file of the bundle, from the system's group database.

The file goes before the system: the first that knows a user is believed. Without either this plugin knows nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from negotiator.plugin import Section, UserGroups, hookimpl
from negotiator_groups.settings import GroupsSettings, check


@hookimpl
def negotiator_section() -> Section:
    """Own ``groups``."""
    return Section(schema=GroupsSettings, check=check)


@hookimpl
def negotiator_user_groups(
    users: Sequence[str], settings: GroupsSettings, now: float
) -> Iterable[UserGroups]:
    """Look the users up in the file, and those that it does not name in the system's group database."""
    found = settings.groups.find(users, now)
    return [UserGroups(user, found[user]) for user in users if user in found]
