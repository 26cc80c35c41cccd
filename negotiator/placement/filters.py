"""Filters of placement rules: users and groups, allowed or denied, as lists or one regular expression each.

Source: "App Placement Rules", Filter parameter. Regular expressions have YuniKorn's syntax (RE2: linear time, no
lookaround, no back references), and match anywhere in a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import attrs

from negotiator.queues.checks.findings import Findings
from negotiator.queues.config import FilterEntry
from negotiator.queues.names import GROUP_NAME, USER_NAME, is_group_name, is_user_name
from negotiator.records import ScalarText

#: A single entry with one of these characters is a regular expression; a dot alone is not enough.
_SPECIAL = re.compile(r"[\^$*+?()\[{}|]")
_COMMA = re.compile(r",(?![^({\[]*[)}\]])")  # outside brackets
_MAX_MEMORY = 8 << 20  # of one expression, as RE2 counts it
_CACHED = 65_536  # results for names
_LONGEST_HINT = 200  # characters of a name; a part of an expression would be wrong
_WHOLE_NAME = "the escaped name between ^ and $"
_TYPES = ("", "allow", "deny")

Names = Callable[[str], bool]


@attrs.frozen
class UserFilter:
    """The users that a rule applies to. Without entries: all users, or no user if it denies."""

    deny: bool = False
    empty: bool = True
    has_user: Names = lambda _: False
    has_group: Names = lambda _: False

    def applies(self, user: str, groups: Sequence[str]) -> bool:
        """True if the rule applies to a user with these groups."""
        if self.empty:
            return not self.deny
        return (self.has_user(user) or any(map(self.has_group, groups))) != self.deny

    @property
    def takes_all(self) -> bool:
        """True if the rule applies to everybody."""
        return self.empty and not self.deny

    def lets_through(self, group: str) -> bool:
        """True if the filter has no entries, or its groups let a group pass."""
        return self.empty or self.has_group(group) != self.deny


EVERYBODY = UserFilter()


def listed(entry: Sequence[ScalarText] | ScalarText | None) -> tuple[ScalarText, ...]:
    """Return the entries of a list; a text is split at its commas, except those of a regular expression's brackets."""
    if not isinstance(entry, ScalarText):
        return tuple(entry or ())
    parts = (part.strip() for part in _COMMA.split(entry.text))
    return tuple(attrs.evolve(entry, text=part) for part in parts if part)


def make_filter(entry: FilterEntry | None, findings: Findings) -> UserFilter:
    """Return a filter; invalid entries match no user."""
    if entry is None:
        return EVERYBODY
    kind = entry.type.text.lower() if entry.type else ""
    if kind not in _TYPES:
        source = entry.type.source if entry.type else entry.source
        message = f"unknown filter type {kind[:80]!r}"
        findings.error("rule_filter_type", source, message, "there are: allow, deny")
    users, groups = listed(entry.users), listed(entry.groups)
    return UserFilter(
        deny=kind == "deny",
        empty=not users and not groups,
        has_user=_names("user", users, is_user_name, USER_NAME, findings),
        has_group=_names("group", groups, is_group_name, GROUP_NAME, findings),
    )


def is_expression(entries: Sequence[ScalarText]) -> bool:
    """True if the entries of a list are one regular expression instead of names."""
    return len(entries) == 1 and _SPECIAL.search(entries[0].text) is not None


def _names(subject: str, entries: Sequence[ScalarText], valid: Names, form: str, findings: Findings) -> Names:
    if is_expression(entries):
        if valid(entries[0].text):
            _warn_of_name(subject, entries[0], findings)
        return _expression(subject, entries[0], findings)
    for entry in entries:
        if not valid(entry.text):
            message = f"invalid {subject} name {entry.text[:80]!r}"
            if len(entries) == 1:
                findings.error(f"rule_filter_{subject}s", entry.source, message, form)
            else:
                hint = (
                    "a regular expression must be the only entry of its list"
                    if _SPECIAL.search(entry.text)
                    else form
                )
                findings.warning(entry.source, f"{message}, so it never matches", hint)
    return frozenset(entry.text for entry in entries if valid(entry.text)).__contains__


def _warn_of_name(subject: str, entry: ScalarText, findings: Findings) -> None:
    """Warn of a name that is a regular expression because it is the only entry: ``pc$``, as in YuniKorn."""
    message = f"the single entry {entry.text[:80]} is a regular expression, not the {subject} of that name"
    is_shown = len(entry.text) <= _LONGEST_HINT
    hint = f"write {f'^{re.escape(entry.text)}$' if is_shown else _WHOLE_NAME} for that {subject} alone"
    findings.warning(entry.source, message, hint)


def _expression(subject: str, entry: ScalarText, findings: Findings) -> Names:
    import re2  # noqa: PLC0415 - takes long, and few filters have regular expressions

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        search = re2.compile(entry.text, options).search
    except (re2.error, UnicodeError) as error:
        message = f"{entry.text[:80]!r} is not a valid regular expression: {_message(error)}"
        findings.error(f"rule_filter_{subject}s", entry.source, message, "see the syntax of RE2")
        return lambda _: False
    return lru_cache(_CACHED)(lambda name: search(name) is not None)


def _message(error: Exception) -> str:
    text = error.args[0] if error.args else ""
    return text.decode(errors="replace") if isinstance(text, bytes) else str(text)
