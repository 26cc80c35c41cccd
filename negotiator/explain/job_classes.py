"""Which attribute makes many classes of alike jobs: a cycle takes a step for each class, and schedds send a request for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.classad.syntax import ReferenceScan, scan
from negotiator.cycle.autoclusters import SUBMITTER_ATTRIBUTES, idle_autoclusters
from negotiator.cycle.jobs import IDLE
from negotiator.cycle.numbering import combined, first_rows
from negotiator.cycle.offered_slots import slots_to_match
from negotiator.hooks import specs
from negotiator.pool.snapshot import Snapshot

#: Fewer classes take no noticeable time.
FEW_CLASSES: Final = 200
#: An attribute is named if the classes would be at most one in so many without it.
_PART: Final = 2
_MOST_READERS: Final = 4


@attrs.frozen
class SplitClasses:
    """Idle jobs in many classes: how many classes there would be if an attribute made no difference, and what reads it.

    ``attribute`` is empty if each job is a class of its own, since something may read any attribute. ``readers`` are rules of policies with their places,
    plugins, and attributes of slots and of jobs.
    """

    jobs: int
    classes: int
    attribute: str
    without: int
    readers: tuple[str, ...]


def split_classes(snapshot: Snapshot, bundle: Bundle) -> SplitClasses | None:
    """Return the attribute that makes most classes of the idle jobs; None if they are few, or if no attribute makes half of them."""
    jobs = snapshot.jobs.take(snapshot.jobs.numbers("JobStatus", default=IDLE) == IDLE)
    slots = slots_to_match(snapshot.slots, bundle)
    found = idle_autoclusters(slots, jobs, bundle, SUBMITTER_ATTRIBUTES)
    classes = len(found.significant)
    if classes < FEW_CLASSES:
        return None
    opaque = sum(each is None for each in found.significant)
    if opaque * _PART > classes:
        return SplitClasses(len(jobs), classes, "", classes - opaque, ())
    one_of_each = jobs.take(first_rows(found.ids, classes))
    known = frozenset[str]().union(*(each for each in set(found.significant) if each is not None))
    names = sorted(known | {name.lower() for name in SUBMITTER_ATTRIBUTES})
    counts = _without_each([one_of_each.group([name])[0] for name in names])
    place = int(np.argmin(counts))
    if counts[place] * _PART > classes:
        return None
    readers = _readers(names[place], bundle, slots, one_of_each)
    return SplitClasses(
        len(jobs), classes, _spelled(names[place], one_of_each), counts[place], tuple(readers)[:_MOST_READERS]
    )


def _without_each(columns: list[NDArray[np.int64]]) -> list[int]:
    """Return, for each column, how many rows differ in the others."""
    none = np.zeros_like(columns[0])
    after = [none]  # rows numbered by the columns after each, the last first
    for column in reversed(columns[1:]):
        after.append(combined(after[-1], column)[0])
    counts, before = [], none
    for column, rest in zip(columns, reversed(after), strict=True):
        counts.append(combined(before, rest)[1])
        before = combined(before, column)[0]
    return counts


def _spelled(name: str, jobs: Table) -> str:
    """Return a name as the first job that has it spells it."""
    spelled = (each for row in range(len(jobs)) for each in jobs.ad(row) if each.lower() == name)
    return next(spelled, name)


def _readers(name: str, bundle: Bundle, slots: Table, jobs: Table) -> Iterator[str]:
    """Yield what reads an attribute of jobs, policies first."""
    for constraint in bundle.constraints:
        record = constraint.record
        if _names(name, [scan(record.expression)]):
            yield f"{record.rule} ({record.source})" if record.source else record.rule
    answers = bundle.hooks.ask(specs.negotiator_job_attributes, settings=bundle.settings)
    yield from dict.fromkeys(f"plugin {each.plugin}" for each in answers.records if each.record == name)
    for what, table in (("slots", slots), ("jobs", jobs)):
        for each in sorted(filter(table.has_expressions, table.names())):
            if _names(name, table.scans(each)):
                yield f"{_spelled(each, table)} of {what}"


def _names(name: str, scans: Iterable[ReferenceScan]) -> bool:
    return any(name in names for each in scans for names in each.names.values())
