"""Changes of the limits of one rule: add, modify, replace, delete.

Source: qconf(1), ``-aattr``, ``-mattr``, ``-rattr`` and ``-dattr``; the order and the messages are the qmaster's.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from negotiator_quotasets.language import RuleLimit

Limits = tuple[RuleLimit, ...]
_OF = 'in "resource_quota_rules" of "resource_quota"'


class ChangeWay(enum.StrEnum):
    """The way an attribute is changed: the first letter of its switches."""

    ADD = "a"
    DELETE = "d"
    MODIFY = "m"
    REPLACE = "r"


def changed_limits(way: ChangeWay, old: Limits, given: Limits) -> tuple[Limits, Sequence[str]]:
    """Return the new limits of a rule, and the messages about the change."""
    if way is ChangeWay.REPLACE:
        return given, ()
    old_resources = {each.resource for each in old}
    given_resources = {each.resource for each in given}
    existing = [each for each in given if each.resource in old_resources]
    new = tuple(each for each in given if each.resource not in old_resources)
    if way is ChangeWay.ADD:
        return old + new, [
            f'No modification because "{each.resource}" already exists {_OF}' for each in existing
        ]
    others = tuple(each for each in old if each.resource not in given_resources)
    if way is ChangeWay.DELETE:
        return others, [f'"{each.resource}" does not exist {_OF}' for each in new]
    # Modified limits move to the end, as in the qmaster's lists.
    return others + given, [f'Unable to find "{each.resource}" {_OF} - Adding new element.' for each in new]
