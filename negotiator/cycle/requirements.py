"""Requirements as conjuncts: a match needs each of them true, so each can be counted by itself."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Expr, Kind, Side, Table, evaluate_table, unparse
from negotiator.classad.analysis import splittable
from negotiator.classad.tree import Binary
from negotiator.cycle.words import core_reason
from negotiator.hooks.records import Mask
from negotiator.records import Reason, Station, Verdict

#: Beyond so many conjuncts the rest of an expression is counted as one: users write Requirements.
MAX_CONJUNCTS = 64
#: So many characters of a conjunct stand in a reason.
MAX_TEXT = 300


@attrs.frozen
class Part:
    """One conjunct of the Requirements of some slots: the rows that have it, and its tree."""

    rows: NDArray[np.intp]
    expression: Expr


def job_requirements(job: ClassAd, slots: Table, env: Environment) -> Iterator[tuple[Mask, Reason]]:
    """Give, for each conjunct of a job's Requirements, the slots on which it is not true."""
    written = job.get("Requirements")
    if written is None:
        text = "the job has no Requirements"
        yield (
            np.ones(len(slots), dtype=np.bool_),
            core_reason(Station.MATCH, Verdict.MISCONFIGURED, "no_job_requirements", text),
        )
        return
    for conjunct in split(written):
        true = evaluate_table(conjunct, slots, job, side=Side.TARGET, env=env).is_true()
        yield ~true, _reason("job_requirements", "the job's Requirements", conjunct)


def slot_requirements(
    parts: tuple[Part, ...], job: ClassAd, slots: Table, env: Environment
) -> Iterator[tuple[Mask, Reason]]:
    """Give, for each conjunct of the slots' Requirements, the slots that have it and on which it is not true."""
    for part in parts:
        false = np.zeros(len(slots), dtype=np.bool_)
        whole = len(part.rows) == len(slots)
        table = slots if whole else slots.take(part.rows)
        false[part.rows] = ~evaluate_table(part.expression, table, job, side=Side.MY, env=env).is_true()
        yield false, _reason("slot_requirements", "the slot's Requirements", part.expression)


def slot_parts(slots: Table) -> tuple[Part, ...]:
    """Split the Requirements of all slots, once a cycle: slots with the same text share their conjuncts."""
    ids, first_rows = slots.group(["Requirements"])
    parts: dict[Expr, list[NDArray[np.intp]]] = {}
    for group, row in enumerate(first_rows):
        written = slots.ad(int(row)).get("Requirements")
        for conjunct in split(written) if written is not None else ():
            parts.setdefault(conjunct, []).append(np.flatnonzero(ids == group))
    return tuple(Part(np.sort(np.concatenate(rows)), conjunct) for conjunct, rows in parts.items())


def without_requirements(slots: Table) -> tuple[Mask, Reason]:
    """Give the slots that have no Requirements: such a slot never matches."""
    absent = np.broadcast_to(slots.column("Requirements").kinds == Kind.ABSENT, len(slots))
    text = "the slot has no Requirements"
    return absent, core_reason(Station.MATCH, Verdict.MISCONFIGURED, "no_slot_requirements", text)


def split(requirements: Expr) -> tuple[Expr, ...]:
    """Split where that cannot change the outcome; the tail of a very long expression stays one conjunct."""
    parts = splittable(requirements)
    if len(parts) <= MAX_CONJUNCTS:
        return parts
    tail = parts[MAX_CONJUNCTS - 1]
    for part in parts[MAX_CONJUNCTS:]:
        tail = Binary("&&", tail, part)
    return (*parts[: MAX_CONJUNCTS - 1], tail)


def _reason(code: str, whose: str, conjunct: Expr) -> Reason:
    shown = unparse(conjunct)
    shown = shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}..."
    return core_reason(Station.MATCH, Verdict.DENIED, code, f"{whose}: {shown}", shown)
