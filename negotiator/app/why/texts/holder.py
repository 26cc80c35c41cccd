"""Why the idle jobs of a user or a queue get no slot, as text."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.app.limits import APPLICATIONS, LimitKind
from negotiator.app.phrases import first_end_sentence, number, rule, sentence
from negotiator.app.why.holder import LimitUse, WhyHolder
from negotiator.app.why.texts.text import WhyTable, WhyText
from negotiator.queues.quantities import format_quantity
from negotiator.records import CORE, Verdict


def holder_text(found: WhyHolder) -> WhyText:
    """Return the answer: the reason of most jobs first, the fair share, and the limits, the fullest first."""
    return WhyText.of([*_answer(found)], [_idle(found), _shares(found), _limits(found)])


def _answer(found: WhyHolder) -> Iterator[str]:
    subject, idle = found.subject, found.matched + found.without_slot
    yield f"{subject.kind.capitalize()} {subject.name}: {number(found.running, 'job')} with a slot, {idle} idle"
    if not idle:
        return
    if found.idle:
        yield sentence(found.idle[0].reason)
        if found.idle[0].reason.verdict is Verdict.WAITING:
            yield from first_end_sentence(found.first_end, "with a slot")
    yield f"A cycle now would give slots to {found.matched} of the idle jobs."


def _idle(found: WhyHolder) -> WhyTable:
    rows = tuple(
        (
            str(each.jobs),
            str(each.reason.verdict),
            each.reason.text,
            "" if each.reason.provenance.plugin == CORE else rule(each.reason),
        )
        for each in found.idle
    )
    headers = ("JOBS", "VERDICT", "REASON", "RULE")
    return WhyTable("Idle jobs without a slot", headers, rows, (0,), name=2)


def _shares(found: WhyHolder) -> WhyTable:
    rows = tuple(
        (
            each.holder,
            f"{each.priority:g}",
            f"{each.entitled:g}",
            f"{each.used_before:g}",
            f"{each.used:g}",
            f"{max(each.entitled - each.used, 0):g}",
            each.unit,
        )
        for each in found.shares
    )
    headers = ("HOLDER", "PRIORITY", "SHARE", "USED", "AFTER A CYCLE", "LEFT", "UNIT")
    return WhyTable("Fair share", headers, rows, (1, 2, 3, 4, 5))


def _limits(found: WhyHolder) -> WhyTable:
    headers = ("LIMIT OF", "QUEUE", "RESOURCE", "USED", "LIMIT", "PART")
    return WhyTable("Limits", headers, tuple(map(_limit, found.limits)), (3, 4, 5), "limit")


def _limit(found: LimitUse) -> tuple[str, ...]:
    holder = "queue" if found.kind is LimitKind.QUEUE else f"{found.kind} {found.name}"
    part = f"{found.share:.0%}" if found.limit else ""
    used, limit = (_amount(found, value) for value in (found.used, found.limit))
    return holder, found.queue, found.resource, used, limit, part


def _amount(found: LimitUse, value: float) -> str:
    if found.resource == APPLICATIONS or found.kind is LimitKind.CONCURRENCY:
        return f"{value:g}"
    return format_quantity(found.resource, int(value))
