"""Why the idle jobs of a pool get no slot, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from negotiator.app.phrases import number, rule
from negotiator.app.why.idle import IdleReport, SplitClasses
from negotiator.app.why.idle_groups import IdleBy, IdleGroup
from negotiator.app.why.texts.text import WhyTable, WhyText
from negotiator.records import CORE


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
