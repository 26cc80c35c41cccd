"""``negotiator why USER`` and ``why QUEUE``: why the idle jobs of a user or a queue get no slot."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.app.limits import APPLICATIONS, LimitKind
from negotiator.app.why_holder import LimitUse, WhyHolder
from negotiator.cli.bars import limited
from negotiator.cli.phrases import ends, number, rule, sentence
from negotiator.cli.render import Row, printable, wrapped_lines
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.queues.quantities import format_quantity
from negotiator.records import CORE, Verdict


def print_why_holder(found: WhyHolder, *, full: bool) -> None:
    """Print the answer, the reason of most jobs first; at most a screen unless ``full``."""
    heading = [line for text in _answer(found) for line in wrapped_lines(printable(text))]
    details = "Details: --full, negotiator why JOB, or negotiator usage"
    print_tables([_idle(found), _shares(found), _limits(found)], full=full, details=details, heading=heading)


def _answer(found: WhyHolder) -> Iterator[str]:
    subject, idle = found.subject, found.matched + found.without_slot
    yield f"{subject.kind.capitalize()} {subject.name}: {number(found.running, 'job')} with a slot, {idle} idle"
    if not idle:
        return
    if found.idle:
        yield sentence(found.idle[0].reason)
        if found.idle[0].reason.verdict is Verdict.WAITING:
            yield from ends(found.first_end, "with a slot")
    yield f"A cycle now would give slots to {found.matched} of the idle jobs."


def _idle(found: WhyHolder) -> ScreenTable:
    rows = [
        (
            str(each.jobs),
            str(each.reason.verdict),
            printable(each.reason.text),
            "" if each.reason.provenance.plugin == CORE else printable(rule(each.reason)),
        )
        for each in found.idle
    ]
    return ScreenTable("Idle jobs without a slot", ("JOBS", "VERDICT", "REASON", "RULE"), rows, (0,))


def _shares(found: WhyHolder) -> ScreenTable:
    rows = [
        (
            printable(each.holder),
            f"{each.priority:g}",
            f"{each.entitled:g}",
            f"{each.used_before:g}",
            f"{each.used:g}",
            f"{max(each.entitled - each.used, 0):g}",
            each.unit,
        )
        for each in found.shares
    ]
    headers = ("HOLDER", "PRIORITY", "SHARE", "USED", "AFTER A CYCLE", "LEFT", "UNIT")
    return ScreenTable("Fair share", headers, rows, (1, 2, 3, 4, 5))


def _limits(found: WhyHolder) -> ScreenTable:
    headers = ("LIMIT OF", "QUEUE", "RESOURCE", "USED", "LIMIT", "")
    rows = [_limit(each) for each in found.limits]
    return ScreenTable("Limits", headers, rows, (3, 4), "limit")


def _limit(found: LimitUse) -> Row:
    holder = "queue" if found.kind is LimitKind.QUEUE else f"{found.kind} {printable(found.name)}"
    shown = [_amount(found, value) for value in (found.used, found.limit)]
    return (
        holder,
        found.queue,
        found.resource,
        shown[0],
        *limited(int(found.used), int(found.limit), shown[1]),
    )


def _amount(found: LimitUse, value: float) -> str:
    if found.resource == APPLICATIONS or found.kind is LimitKind.CONCURRENCY:
        return f"{value:g}"
    return format_quantity(found.resource, int(value))
