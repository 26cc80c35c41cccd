"""The groups of users, from a file of the bundle and from the system's group database.

The file takes precedence over the system. Without either, this plugin knows no user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from negotiator import plugin
from negotiator.plugin import Section, hookimpl
from negotiator_groups.settings import GroupsSettings, check


@hookimpl
def negotiator_section() -> Section:
    """Own ``groups``."""
    return Section(schema=GroupsSettings, check=check)


@hookimpl
def negotiator_user_groups(
    users: Sequence[str], settings: GroupsSettings, now: float
) -> Iterable[plugin.UserGroups]:
    """Return the groups of users from the file, else from the system's group database."""
    found = settings.groups.find(users, now)
    return [plugin.UserGroups(user, found[user]) for user in users if user in found]
