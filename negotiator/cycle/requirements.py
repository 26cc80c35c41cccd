"""Requirements as conjuncts: a match needs each of them true, so each can be counted by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Expr, Kind, Side, Table, evaluate_table
from negotiator.classad.ad import fold
from negotiator.classad.analysis import splittable
from negotiator.classad.footprint import footprint
from negotiator.classad.tree import AdRef, Attr, Binary, Literal
from negotiator.classad.treekey import tree_key
from negotiator.classad.unparse import unparse_old
from negotiator.cycle.words import core_reason
from negotiator.hooks.records import Mask
from negotiator.pool.secrets import without_secrets
from negotiator.records import Reason, Station, Verdict

#: Beyond so many conjuncts the rest of an expression is counted as one: users write Requirements.
MAX_CONJUNCTS = 64
#: Beyond so many different Requirements of slots, those of the rest are counted as one.
MAX_TEXTS = 200
#: So many characters of a conjunct stand in a reason.
MAX_TEXT = 300

_NAME = "requirements"
#: Requirements by name, in the ad itself: what refers to them inside is circular then, as in HTCondor.
_WHOLE = Attr("Requirements", AdRef(Side.MY))


@attrs.frozen
class Part:
    """One conjunct of the slots' side: the rows that have it, its tree, and the attribute it was written in."""

    rows: NDArray[np.intp]
    expression: Expr
    attribute: str


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
    circular = _may_reach_itself(written, slots, job, on_rows=False)
    for part in (written,) if circular else split(written):
        conjunct = _WHOLE if circular else part
        true = evaluate_table(conjunct, slots, job, side=Side.TARGET, env=env).is_true()
        yield ~true, _reason("job_requirements", "the job's Requirements", part)


def slot_requirements(
    parts: tuple[Part, ...], job: ClassAd, slots: Table, env: Environment
) -> Iterator[tuple[Mask, Reason]]:
    """Give, for each conjunct of the slots' Requirements, the slots that have it and on which it is not true."""
    if _leads_back(job, slots, {_NAME, *(fold(part.attribute) for part in parts)}):
        # The slots' Requirements may be reached from themselves by way of this job.
        parts = (Part(np.arange(len(slots)), _WHOLE, "Requirements"),)
    for part in parts:
        false = np.zeros(len(slots), dtype=np.bool_)
        whole = len(part.rows) == len(slots)
        table = slots if whole else slots.take(part.rows)
        false[part.rows] = ~evaluate_table(part.expression, table, job, side=Side.MY, env=env).is_true()
        yield false, _reason("slot_requirements", f"the slot's {part.attribute}", part.expression)


def _leads_back(job: ClassAd, slots: Table, split: set[str]) -> bool:
    """Tell whether an expression of the job may reach, by way of the slots too, one of those that were taken apart."""
    shadowed = _shadowed(slots, job)
    for _, tree in job.items():  # noqa: PERF102 -- an ad is no dict and has no values()
        if not isinstance(tree, Literal):
            found = footprint(tree, slots, job, on_rows=False, shadowed=shadowed)
            if found.opaque or any(on_rows and name in split for on_rows, name in found.names):
                return True
    return False


def slot_parts(slots: Table) -> tuple[Part, ...]:
    """Split the Requirements of all slots, once a cycle: slots with the same text share their conjuncts.

    A conjunct that is only the name of another expression of the slot (``WithinResourceLimits``) is split in turn.
    """
    ids, first_rows = slots.group(["Requirements"])
    found: dict[tuple[str, str], list[Part]] = {}
    for group, row in enumerate(first_rows[:MAX_TEXTS]):
        written = slots.ad(int(row)).get("Requirements")
        if written is not None:
            for part in _split_slots(written, np.flatnonzero(ids == group), slots):
                found.setdefault((part.attribute, tree_key(part.expression)), []).append(part)
    rest = np.flatnonzero(ids >= MAX_TEXTS)
    if len(rest):
        found["", ""] = [Part(rest, _WHOLE, "Requirements")]
    return tuple(
        attrs.evolve(parts[0], rows=np.unique(np.concatenate([part.rows for part in parts])))
        for parts in found.values()
    )


def _split_slots(written: Expr, rows: NDArray[np.intp], slots: Table) -> Iterator[Part]:
    table = slots.take(rows)
    if _may_reach_itself(written, table, None, on_rows=True):
        yield Part(rows, _WHOLE, "Requirements")
        return
    for conjunct in split(written):
        left = np.ones(len(rows), dtype=np.bool_)
        for name, part in _named(conjunct, table):
            reach = footprint(part.expr, table, None, on_rows=True, shadowed=_shadowed(table, None))
            if reach.opaque or (True, fold(name)) in reach.names:
                continue  # it may be met again while it is evaluated, and is undefined there
            left[part.rows] = False
            for inner in split(part.expr):
                yield Part(rows[part.rows], inner, name)
        if left.any():
            yield Part(rows[left], conjunct, "Requirements")


def _named(conjunct: Expr, table: Table) -> Iterator[tuple[str, Any]]:
    """Give the expressions of the slots that a conjunct consisting of one name of their own stands for."""
    if isinstance(conjunct, Attr) and conjunct.scope in (None, Attr("MY")) and not conjunct.absolute:
        yield from ((conjunct.name, part) for part in table.parts(conjunct.name) if part.expr is not None)


def _shadowed(slots: Table, job: ClassAd | None) -> bool:
    """Tell whether an ad has an attribute that takes the place of a scope."""
    return any(
        slots.column(name).kind is not Kind.ABSENT or (job is not None and name in job)
        for name in ("my", "target")
    )


def _may_reach_itself(written: Expr, slots: Table, job: ClassAd | None, *, on_rows: bool) -> bool:
    """Tell whether Requirements may be met again while they are evaluated: there they are undefined."""
    found = footprint(written, slots, job, on_rows=on_rows, shadowed=_shadowed(slots, job))
    return found.opaque or any(name == _NAME for _, name in found.names)


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


def shown(conjunct: Expr) -> str:
    """Print a conjunct as condor_status and condor_q would, bounded, and without the values of secrets."""
    text = without_secrets(unparse_old(conjunct))
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."


def _reason(code: str, whose: str, conjunct: Expr) -> Reason:
    text = shown(conjunct)
    return core_reason(Station.MATCH, Verdict.DENIED, code, f"{whose}: {text}", text)
