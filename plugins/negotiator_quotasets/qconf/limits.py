"""What becomes of the limits of one rule: added, changed, replaced, deleted.

Source: qconf(1), ``-aattr``, ``-mattr``, ``-rattr`` and ``-dattr``; the order and the words are the qmaster's.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from negotiator_quotasets.language import RuleLimit

Limits = tuple[RuleLimit, ...]
_OF = 'in "resource_quota_rules" of "resource_quota"'


class Way(enum.StrEnum):
    """How an attribute is changed; the letter of its switches."""

    ADD = "a"
    DELETE = "d"
    MODIFY = "m"
    REPLACE = "r"


def changed(way: Way, old: Limits, given: Limits) -> tuple[Limits, Sequence[str]]:
    """The limits that a rule then has, and what is told about it."""
    there = {each.resource for each in old}
    spoken_of = {each.resource for each in given}
    known = [each for each in given if each.resource in there]
    new = tuple(each for each in given if each.resource not in there)
    if way is Way.REPLACE:
        return given, ()
    if way is Way.ADD:
        return old + new, [
            f'No modification because "{each.resource}" already exists {_OF}' for each in known
        ]
    kept = tuple(each for each in old if each.resource not in spoken_of)
    if way is Way.DELETE:
        return kept, [f'"{each.resource}" does not exist {_OF}' for each in new]
    # What is modified moves to the end, as in the qmaster's lists.
    return kept + given, [f'Unable to find "{each.resource}" {_OF} - Adding new element.' for each in new]
