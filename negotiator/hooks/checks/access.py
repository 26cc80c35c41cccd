"""Checks of the answers of access policies and of sources of groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from negotiator.hooks.access import Access, AccessDecision, UserGroups
from negotiator.hooks.fields import (
    WrongAnswerError,
    check_exactly,
    check_instance,
    checked_label,
    checked_name,
    checked_source,
    checked_text,
    kind_of,
)

MAX_GROUPS = 10_000  # of one user


def checked_access(record: Any, arguments: Mapping[str, Any]) -> Access:
    """Return an Access whose every field is of its type."""
    del arguments
    check_exactly(record, Access, "an Access")
    check_instance(record.decision, AccessDecision, "an AccessDecision in an Access")
    source = checked_source(record.source, "an Access")
    text = checked_text(record.text, "text of an Access")
    return Access(record.decision, checked_label(record.rule, "rule of an Access"), text, source)


def checked_group(record: Any, arguments: Mapping[str, Any]) -> str:
    """Return the name of a group, or an empty string."""
    del arguments
    return checked_name(record, "group") if record != "" else ""


def checked_user_groups(record: Any, arguments: Mapping[str, Any]) -> UserGroups:
    """Return UserGroups with a user, and a tuple of names."""
    del arguments
    check_exactly(record, UserGroups, "UserGroups")
    if type(record.groups) not in {tuple, list}:
        raise WrongAnswerError(f"expected a tuple of groups in UserGroups, got {kind_of(record.groups)}")
    if len(record.groups) > MAX_GROUPS:
        raise WrongAnswerError(
            f"expected at most {MAX_GROUPS} groups in UserGroups, got {len(record.groups)}"
        )
    groups = tuple(checked_name(group, "group in UserGroups") for group in record.groups)
    return UserGroups(checked_name(record.user, "user in UserGroups"), groups)
