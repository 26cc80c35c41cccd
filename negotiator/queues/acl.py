"""Access control lists: ``users groups``, each separated by commas, or ``*`` for everybody.

Source: "Scheduler Configuration", Access Control Lists. A list only ever gives access. An empty one, or a single
space, gives it to nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from negotiator.errors import NegotiatorError
from negotiator.queues.names import WILDCARD

# Narrower than the names that limits take, as in YuniKorn.
_USER = re.compile(r"[_a-zA-Z][a-zA-Z0-9_.@-]*\$?", re.ASCII)
_GROUP = re.compile(r"[_a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)

HINT = "write users, a single space, groups: 'sue,bob dev,ops'; '*' for everybody, ' dev' for groups alone"


class AclError(NegotiatorError, ValueError):
    """A text that is no access control list."""


@attrs.frozen
class Acl:
    """Who has access. ``ignored`` are the entries that are no names, and so never match."""

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    everybody: bool = False
    ignored: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Acl:
        """Read a list; AclError where there is more than one space in it."""
        parts = text.split(" ")
        if len(parts) > 2:
            raise AclError(f"there is more than one space in {text[:80]!r}")
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

    def __str__(self) -> str:
        """The list as ``parse`` reads it, without what it ignored."""
        if self.everybody:
            return WILDCARD
        return " ".join((",".join(sorted(self.users)), ",".join(sorted(self.groups)))).rstrip(" ")

    def allows(self, user: str, groups: Iterable[str]) -> str:
        """Who of ``everybody``, ``user sue`` and ``group dev`` has access here; empty where none has."""
        if self.everybody:
            return "everybody"
        if user in self.users:
            return f"user {user}"
        if self.groups:
            for group in groups:
                if group in self.groups:
                    return f"group {group}"
        return ""


#: Gives access to nobody.
NOBODY = Acl()
