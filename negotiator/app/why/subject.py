"""What a word names that ``negotiator why`` is called with: a job, a slot, a user or a queue."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import numpy as np

from negotiator.app.job_lookup import JOB_ID
from negotiator.app.pool_view import PoolView, require_pool
from negotiator.classad import Table
from negotiator.cycle.applications import application_users
from negotiator.cycle.jobs import submitters
from negotiator.cycle.place import place_idle
from negotiator.errors import InvalidCallError, NotFoundError
from negotiator.queues.names import upwards
from negotiator.records.text import printable, suggest

_NAMED: Final = 5  # candidates in a message


class WhyKind(enum.StrEnum):
    """What a question is about."""

    JOB = "job"
    SLOT = "slot"
    USER = "user"
    QUEUE = "queue"


@attrs.frozen
class WhySubject:
    """What a question is about, by its kind and name; the name of a queue is its path."""

    kind: WhyKind
    name: str


def find_subject(view: PoolView, word: str, kind: WhyKind | None = None) -> WhySubject:
    """Return what a word names; an id is that of a job.

    :param kind: its kind; None to find it out.
    :raises InvalidCallError: no pool is named, or the word names several: the message has them.
    :raises NotFoundError: it names none; the message has the nearest names.
    :raises PoolError, StateError: the pool or the state cannot be read.
    """
    require_pool(view.targets)
    if kind in {WhyKind.JOB, WhyKind.SLOT}:
        return WhySubject(kind, word)  # who looks it up has better messages
    if kind is None and JOB_ID.fullmatch(word):
        return WhySubject(WhyKind.JOB, word)
    kinds = _NAMES if kind is None else {kind: _NAMES[kind]}
    names = {each: dict.fromkeys(sorted(find(view))) for each, find in kinds.items()}
    found = [WhySubject(each, name) for each, known in names.items() for name in _named(each, word, known)]
    if not found:
        raise NotFoundError(_unknown(view.snapshot.slots, word, kind, names))
    if len(found) > 1:
        raise InvalidCallError(_ambiguous(word, found))
    return found[0]


def _slots(view: PoolView) -> Iterator[str]:
    yield from filter(None, view.snapshot.slots.strings("Name").tolist())


def _users(view: PoolView) -> Iterator[str]:
    """Yield the users of the jobs, and their submitters."""
    jobs = view.snapshot.jobs
    yield from filter(
        None, set(application_users(jobs, view.bundle.placement, view.cycle.environment).tolist())
    )
    yield from filter(None, set(submitters(jobs).tolist()))


def _queues(view: PoolView) -> Iterator[str]:
    """Yield the paths of the queues, and of those that rules give the jobs of the pool."""
    if view.bundle.chain is None:
        return
    placed = place_idle(view.snapshot.jobs, view.bundle, view.cycle, view.cycle_state)
    used = {above for path in set(placed.queues.tolist()) for above in upwards(path)}
    yield from used | {queue.path for queue in view.queues}


_NAMES: Final[Mapping[WhyKind, Callable[[PoolView], Iterator[str]]]] = {
    WhyKind.SLOT: _slots,
    WhyKind.USER: _users,
    WhyKind.QUEUE: _queues,
}


def _named(kind: WhyKind, word: str, known: Iterable[str]) -> Sequence[str]:
    """Return the names that a word stands for, in any case of its letters: of queues, else those whose path ends so."""
    wanted, names = word.lower(), {name.lower(): name for name in known}
    if wanted in names:
        return (word,) if word in known else (names[wanted],)
    return [name for folded, name in names.items() if _last(kind, folded) == wanted]


def _ambiguous(word: str, found: Sequence[WhySubject]) -> str:
    shown = [f"the {each.kind} {printable(each.name)}" for each in found[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    kinds = dict.fromkeys(each.kind for each in found)
    choice = " or ".join(f"--{kind}" for kind in kinds) if len(kinds) > 1 else "the full name"
    return f"{word!r} may be {', '.join(shown)}{more}: use {choice}"


def _unknown(slots: Table, word: str, kind: WhyKind | None, names: Mapping[WhyKind, Iterable[str]]) -> str:
    on_machine = _slots_of_machine(slots, word) if kind is None else []
    if on_machine:
        more = " and further ones" if len(on_machine) > _NAMED else ""
        return f"{word!r} is a machine: name one of its slots, {', '.join(on_machine[:_NAMED])}{more}"
    near = []
    for each, known in names.items():
        spelled = {printable(alias) for name in known for alias in (name, _last(each, name))}
        hint = suggest(word, spelled, listed=False)
        near += [f"{hint.removesuffix('?')} ({each})?"] if hint else []
    what = kind or "job, slot, user or queue"
    return f"no {what} {word!r} in the pool" + (f": {' '.join(near)}" if near else "")


def _last(kind: WhyKind, name: str) -> str:
    return name.rpartition(".")[2] if kind is WhyKind.QUEUE else name


def _slots_of_machine(slots: Table, machine: str) -> list[str]:
    machines = np.array([(name or "").lower() for name in slots.strings("Machine").tolist()], np.object_)
    rows = np.flatnonzero(machines == machine.lower())
    return [printable(name) for name in slots.take(rows).strings("Name").tolist() if name]
