"""Tables of conditions, and the texts of reasons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from negotiator.app.phrases import rule
from negotiator.app.why.text_tables import WhyTable as WhyTable
from negotiator.app.why.text_tables import WhyText as WhyText
from negotiator.explain.job import Condition, NearMiss
from negotiator.records import CORE, Reason

#: What a partitionable slot could do instead of giving one match a cycle.
MATCH_FILL: Final = "with match: fill in pool.yaml it gives as many as it has room for"


def conditions_table(title: str, conditions: Iterable[Condition], *more: tuple[str, ...]) -> WhyTable:
    """Return the table of conditions, in their order, with further rows after them."""
    rows = [
        (reason_text(each.reason, each.near), str(each.rejected), str(each.alone), str(each.lever))
        for each in conditions
    ]
    headers = ("CONDITION", "REJECTS", "ONLY THIS", "WHO CAN CHANGE IT")
    return WhyTable(title, headers, (*rows, *more), (1, 2), "condition")


def all_texts(conditions: Iterable[Condition]) -> str:
    """Return conditions that would all have to change, in one line."""
    return " and ".join(each.reason.text for each in conditions)


def reason_text(reason: Reason, near: NearMiss | None = None) -> str:
    """Return the text of a reason, the rule of a policy with its place, and the nearest value that would do."""
    where = "" if reason.provenance.plugin == CORE else f" ({rule(reason)})"
    return f"{reason.text}{where}{f'; nearest: {near}' if near else ''}"
