"""Why the idle jobs of a user, of a queue, or of a pool get no slot, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from negotiator.app.limits import APPLICATIONS, LimitKind
from negotiator.app.phrases import first_end_sentence, number, rule, sentence
from negotiator.app.why.holder import LimitUse, WhyHolder
from negotiator.app.why.idle import IdleBy, IdleGroup, IdleReport, SplitClasses
from negotiator.app.why.texts.job import WhyTable, WhyText
from negotiator.queues.quantities import format_quantity
from negotiator.records import CORE, Verdict


def idle_text(report: IdleReport, by: IdleBy, groups: Sequence[IdleGroup]) -> WhyText:
    """Return how many jobs get no slot, and a table of their groups."""
    # A reason is its own name.
    first = 1 if by is IdleBy.REASON else 0
    rows = tuple(_row(each, by)[first:] for each in groups)
    headers = (by.upper(), "JOBS", "VERDICT", "REASON", "RULE")[first:]
    name = headers.index("REASON") if by is IdleBy.REASON else 0
    return WhyText.of([*_sentences(report)], [WhyTable("Idle jobs", headers, rows, (1 - first,), name=name)])


def _sentences(report: IdleReport) -> Iterator[str]:
    waiting = sum(each.jobs for each in report.idle)
    yield f"{number(waiting, 'job')} without a slot; a cycle now would match {report.matched}."
    if report.split is not None:
        yield _split(report.split)
    if report.running:
        most = max(report.overruns, key=lambda each: each.jobs)
        rules = number(len(report.overruns), "rule")
        verb = "runs" if report.running == 1 else "run"
        where = f"{most.reason.text} ({rule(most.reason)})"
        yield f"{number(report.running, 'job')} {verb} against {rules}: {most.jobs} of them against {where}."
    if report.unjudged:
        yield f"{number(report.unjudged, 'running job')} unknown: not every policy could judge them."


def _split(found: SplitClasses) -> str:
    of = f"{found.jobs} idle jobs are {found.classes} classes of alike jobs"
    if not found.attribute:
        return (
            f"{of}: an expression or a plugin may read any attribute, so that no two of most jobs are alike."
        )
    readers = f"; it is read by {', '.join(found.readers)}" if found.readers else ""
    return f"{of}; without {found.attribute} they would be {found.without}{readers}."


def _row(group: IdleGroup, by: IdleBy) -> tuple[str, ...]:
    reason = group.most.reason
    noun = "more like it" if by is IdleBy.REASON else "other reasons"
    others = f" (and {group.reasons - 1} {noun})" if group.reasons > 1 else ""
    where = "" if reason.provenance.plugin == CORE else rule(reason)
    return group.name, str(group.jobs), str(reason.verdict), f"{reason.text}{others}", where


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
