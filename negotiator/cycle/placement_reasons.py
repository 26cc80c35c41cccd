"""The reasons for which applications are rejected, each in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from negotiator.cycle.reasons import core_reason
from negotiator.hooks.access import Access
from negotiator.hooks.answers import Attributed
from negotiator.placement import Placement, PlacementStep
from negotiator.placement.trace import NO_RULE_MATCHED
from negotiator.queues import Queue
from negotiator.records import Provenance, Reason, Station, Verdict

_VERDICTS = {
    "invalid_queue_name": Verdict.MISCONFIGURED,
    "parent_is_leaf": Verdict.MISCONFIGURED,
    "no_user": Verdict.MISCONFIGURED,
    "plugin_error": Verdict.BROKEN_PLUGIN,
    "groups_unknown": Verdict.BROKEN_PLUGIN,
}
_TEXTS = {
    NO_RULE_MATCHED: "no placement rule has a queue for its application",
    "invalid_queue_name": "a placement rule returned an invalid queue name",
    "parent_is_leaf": "a placement rule returned a queue below a leaf",
    "create_under_leaf": "its queue can't be created: the queue above it is a leaf",
    "create_under_draining": "its queue can't be created: the queue above it is draining",
    "plugin_error": "a plugin failed while its application was placed",
    "no_user": "the job's owner is missing or invalid (at most 200 printable characters)",
    "groups_unknown": "the groups of its user could not be resolved",
}


def rejections(placements: Sequence[Placement]) -> Iterator[tuple[Reason, list[int]]]:
    """Yield each reason for which applications were rejected, with the numbers of their placements."""
    rejected: dict[tuple[str, PlacementStep | None], list[int]] = {}
    for number, placement in enumerate(placements):
        if not placement.placed:
            decisive = placement.steps[-1] if placement.steps and placement.code != NO_RULE_MATCHED else None
            key = attrs.evolve(decisive, queue="", text="") if decisive else None
            rejected.setdefault((placement.code, key), []).append(number)
    for (code, step), numbers in rejected.items():
        yield _reason(code, step), numbers


def rejection(placement: Placement) -> Reason:
    """Return why one application is rejected, with the last rule that was tried."""
    step = placement.steps[-1] if placement.steps else None
    reason = _reason(placement.code, step)
    return reason if step is None else attrs.evolve(reason, text=f"{reason.text}: {step.text}")


def access_reason(answer: Attributed[Access], queue: Queue | None) -> Reason:
    """Return why access policies deny a job a queue: with the place of the rule, or of the queue if no rule permits it."""
    access = answer.record
    broken = access.rule == "plugin_error"
    source = access.source or (queue.config.source if queue else None)
    where = Provenance(Station.PLACE, answer.plugin, answer.version, access.rule, source)
    verdict, code = (Verdict.BROKEN_PLUGIN, "plugin_error") if broken else (Verdict.DENIED, "access_denied")
    return Reason(verdict, code, access.text, where)


def _reason(code: str, step: PlacementStep | None) -> Reason:
    verdict = _VERDICTS.get(code, Verdict.DENIED)
    if step is None:
        return core_reason(Station.PLACE, verdict, code, _TEXTS[code], "placement rules")
    where = Provenance(Station.PLACE, step.plugin, step.version, f"rule {step.rule}", step.source)
    return Reason(verdict, code, _TEXTS[code], where)
