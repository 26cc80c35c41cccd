"""Whom a placement rule is for: users and groups, allowed or denied, as lists or one regular expression each.

Source: "App Placement Rules", Filter parameter. Regular expressions are those of YuniKorn (RE2: linear time, no look
around, no references back), and match anywhere in a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import attrs
import re2

from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import FilterEntry
from negotiator.queues.names import GROUP_NAME, USER_NAME, is_group_name, is_user_name
from negotiator.records import ScalarText

#: One of these makes a single entry a regular expression; a dot alone does not.
_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")
_MAX_MEMORY = 8 << 20  # of one expression, as RE2 counts it
_REMEMBERED = 65_536  # names of which is remembered whether they match
_TYPES = ("", "allow", "deny")

Names = Callable[[str], bool]


@attrs.frozen
class UserFilter:
    """Whether a rule is for a user. Without any entry it is, unless it denies: then it is for nobody."""

    deny: bool = False
    empty: bool = True
    has_user: Names = lambda _: False
    has_group: Names = lambda _: False

    def applies(self, user: str, groups: Sequence[str]) -> bool:
        """Whether the rule is for a user of these groups."""
        if self.empty:
            return not self.deny
        return (self.has_user(user) or any(map(self.has_group, groups))) != self.deny

    @property
    def takes_all(self) -> bool:
        """Whether the rule is for everybody."""
        return self.empty and not self.deny

    def lets_through(self, group: str) -> bool:
        """Whether the entries of groups take one, or there is none of any kind."""
        return self.empty or self.has_group(group) != self.deny


EVERYBODY = UserFilter()


def make_filter(entry: FilterEntry | None, findings: Findings) -> UserFilter:
    """Read a filter; what is wrong in it matches nobody."""
    if entry is None:
        return EVERYBODY
    kind = entry.type.text.lower() if entry.type else ""
    if kind not in _TYPES:
        source = entry.type.source if entry.type else entry.source
        message = f"there is no filter type {kind[:80]!r}"
        findings.error("rule_filter_type", source, message, "there are: allow, deny")
    users, groups = entry.users or (), entry.groups or ()
    return UserFilter(
        deny=kind == "deny",
        empty=not users and not groups,
        has_user=_names("user", users, is_user_name, USER_NAME, findings),
        has_group=_names("group", groups, is_group_name, GROUP_NAME, findings),
    )


def _names(whom: str, entries: Sequence[ScalarText], valid: Names, form: str, findings: Findings) -> Names:
    if len(entries) == 1 and _SPECIAL.search(entries[0].text):
        return _expression(whom, entries[0], findings)
    for entry in entries:
        if not valid(entry.text):
            message = f"{entry.text[:80]!r} is no name of a {whom}"
            if len(entries) == 1:
                findings.error(f"rule_filter_{whom}s", entry.source, message, form)
            else:
                hint = "an expression stands alone in its list" if _SPECIAL.search(entry.text) else form
                findings.warning(entry.source, f"{message}, so it never matches", hint)
    return frozenset(entry.text for entry in entries if valid(entry.text)).__contains__


def _expression(whom: str, entry: ScalarText, findings: Findings) -> Names:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        search = re2.compile(entry.text, options).search
    except (re2.error, UnicodeError) as error:
        message = f"{entry.text[:80]!r} is no regular expression: {_told(error)}"
        findings.error(f"rule_filter_{whom}s", entry.source, message, "see the syntax of RE2")
        return lambda _: False
    return lru_cache(_REMEMBERED)(lambda name: search(name) is not None)


def _told(error: Exception) -> str:
    said = error.args[0] if error.args else ""
    return said.decode(errors="replace") if isinstance(said, bytes) else str(said)
