"""Access control lists: ``users groups``, each separated by commas, or ``*`` for everybody.

Source: "Scheduler Configuration", Access Control Lists. A list only grants access. An empty list, or a single space,
grants it to no user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from negotiator.errors import NegotiatorError
from negotiator.queues.names import WILDCARD

# Fewer characters than in the names of limits, as in YuniKorn.
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9_.@-]*\$?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)

HINT = "write users, a single space, groups: 'sue,bob dev,ops'; '*' for everybody, ' dev' for groups alone"


class AclError(NegotiatorError, ValueError):
    """An invalid access control list."""


@attrs.frozen
class Acl:
    """Users and groups with access. ``ignored`` are invalid names, which never match."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    everybody: bool = False
    ignored: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Acl:
        """Parse a list.

        :raises AclError: more than one space in the list, or only other white space.
        """
        parts = text.split(" ")
        if text.isspace() and text != " ":
            raise AclError(f"blank list {text[:80]!r}: an empty list is '' or a single space")
        if len(parts) > 2:
            raise AclError(f"more than one space in {text[:80]!r}")
        users, groups = (part.split(",") for part in (*parts, "")[:2])
        if text.strip() == WILDCARD or [WILDCARD] in (users, groups):
            return cls(everybody=True)
        named = (("user", users, _USER), ("group", groups, _GROUP))
        ignored = tuple(
            each for _, entries, form in named for each in entries if each and not form.fullmatch(each)
        )
        return cls(
            frozenset(each for each in users if _USER.fullmatch(each)),
            frozenset(each for each in groups if _GROUP.fullmatch(each)),
            ignored=ignored,
        )

    @property
    def grants_nobody(self) -> bool:
        """True if the list has no valid entry."""
        return not (self.everybody or self.users or self.groups)

    def __str__(self) -> str:
        """Return the list as ``parse`` reads it, without ignored entries."""
        if self.everybody:
            return WILDCARD
        return " ".join((",".join(sorted(self.users)), ",".join(sorted(self.groups)))).rstrip(" ")

    def allows(self, user: str, groups: Iterable[str]) -> str:
        """Return the entry that grants access: ``everybody``, ``user sue`` or ``group dev``; empty without access."""
        if self.everybody:
            return "everybody"
        if user in self.users:
            return f"user {user}"
        if self.groups:
            for group in groups:
                if group in self.groups:
                    return f"group {group}"
        return ""


#: Grants access to no user.
NOBODY = Acl()
