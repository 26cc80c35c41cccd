"""What a word names that ``negotiator why`` is called with: a job or a slot."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from negotiator.app.job_lookup import JOB_ID
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.classad import Table
from negotiator.errors import NotFoundError
from negotiator.records.text import printable, suggest

_NAMED: Final = 5  # slots in a message


class WhyKind(enum.StrEnum):
    """What a question is about."""

    JOB = "job"
    SLOT = "slot"


@attrs.frozen
class WhySubject:
    """What a question is about, by its kind and name."""

    kind: WhyKind
    name: str


def find_subject(view: PoolView, word: str, kind: WhyKind | None = None) -> WhySubject:
    """Return what a word names; an id is that of a job.

    :param kind: its kind; None to find it out.
    :raises InvalidCallError: no pool is named.
    :raises NotFoundError: it names none; the message has the nearest name.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    if kind is not None:
        return WhySubject(kind, word)  # who looks it up has better messages
    if JOB_ID.fullmatch(word):
        return WhySubject(WhyKind.JOB, word)
    slots = [name for name in view.snapshot.slots.strings("Name").tolist() if name]
    if word.lower() in map(str.lower, slots):
        return WhySubject(WhyKind.SLOT, word)
    raise NotFoundError(_unknown(view.snapshot.slots, word, slots))


def _unknown(slots: Table, word: str, names: Sequence[str]) -> str:
    on_machine = _slots_of_machine(slots, word)
    if on_machine:
        more = " and further ones" if len(on_machine) > _NAMED else ""
        return f"{word!r} is a machine: name one of its slots, {', '.join(on_machine[:_NAMED])}{more}"
    near = suggest(word, map(printable, names), listed=False)
    return f"no job or slot {word!r} in the pool" + (f": {near}" if near else "")


def _slots_of_machine(slots: Table, machine: str) -> list[str]:
    machines = np.array([(name or "").lower() for name in slots.strings("Machine").tolist()], np.object_)
    rows = np.flatnonzero(machines == machine.lower())
    return [printable(name) for name in slots.take(rows).strings("Name").tolist() if name]
