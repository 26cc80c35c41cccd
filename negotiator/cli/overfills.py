"""Limits that are exceeded by what is in use, for people: lines, a table, and one line of a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from negotiator.app.cycle_report import CycleResult, Overfill, OverfillChanges
from negotiator.cli.phrases import rule
from negotiator.queues.quantities import format_quantity

#: Lines of each level in a cycle.
_LINES = 8
#: Columns of ``overfill_rows``.
COLUMNS = ("LIMIT OF", "RESOURCE", "USED", "LIMIT", "RULE")


def print_overfill_changes(log: Any, changes: OverfillChanges) -> None:
    """Print which limits are exceeded since a cycle, by more or less, and which no longer are; ``log`` is a bound logger."""
    worse = [("begun", each) for each in changes.begun] + [("grown", each) for each in changes.grown]
    better = [("shrunk", each) for each in changes.shrunk] + [("ended", each) for each in changes.ended]
    _print_lines(log.warning, worse)
    _print_lines(log.info, better)


def overfill_rows(result: CycleResult) -> Iterator[tuple[str, ...]]:
    """Yield the exceeded limits, the most exceeded ones first."""
    for each in result.overfills:
        used, limit = _amount(each, each.used), _amount(each, each.limit)
        yield each.subject, each.resource, used, limit, rule(each.reason)


def overfill_lines(result: CycleResult) -> Iterator[str]:
    """Yield a line for each exceeded limit, the most exceeded ones first."""
    for each in result.overfills:
        yield f"{each.reason.text} ({rule(each.reason)})"


def _print_lines(write: Any, changes: Sequence[tuple[str, Overfill]]) -> None:
    for change, each in changes[:_LINES]:
        numbers = {"used": _amount(each, each.used), "limit": _amount(each, each.limit)}
        resource = {"resource": each.resource} if each.resource else {}
        shown = {} if change == "ended" else numbers
        write("overfill", change=change, of=each.subject, **resource, **shown, rule=rule(each.reason))
    if len(changes) > _LINES:
        write("overfill", other_limits=len(changes) - _LINES)


def _amount(overfill: Overfill, amount: float) -> str:
    if isinstance(amount, int):
        return format_quantity(overfill.resource, amount) if overfill.resource else str(amount)
    return f"{amount:g}"
