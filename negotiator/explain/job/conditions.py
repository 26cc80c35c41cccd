"""Which conditions keep a job from slots: how many slots each rejects, and the fewest that have to change."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Final, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.cycle.preemption import KEEPS_JOB
from negotiator.cycle.result import ONLY_BY_RANK
from negotiator.explain.job.near_miss import NearMiss
from negotiator.hooks.records import Mask
from negotiator.records import CORE, Mode, Reason, Verdict

#: (C, N) which condition rejects which slot.
Rejections: TypeAlias = NDArray[np.bool_]

#: The largest set that is searched for exactly; a larger one is found step by step, and may not be the smallest.
_EXACT: Final = 3
_MOST_REMEDIES: Final = 3
_OF_MACHINES: Final = frozenset({"slot_requirements", "no_slot_requirements"})
#: The codes of the reasons of slots that are in use, whether the order offers such slots or not.
_OF_USE: Final = KEEPS_JOB | {"in_use", "retirement"}
_OF_JOBS: Final = frozenset({"job_requirements", "no_job_requirements"})


class Lever(enum.StrEnum):
    """Who can change what keeps a job from slots."""

    JOB = "the job's owner"
    MACHINE = "the machine's owner"
    POOL = "the pool's administrator"
    TIME = "time: the slots are in use"


@attrs.frozen
class Condition:
    """A condition that rejects slots for a job, or jobs for a slot: how many in all, and how many that nothing else rejects.

    ``lever`` is who can change it. ``near`` is the least change of a number or text of that job or slot that would open some of those
    that nothing else rejects; None if there is none.
    """

    reason: Reason
    rejected: int
    alone: int
    lever: Lever
    near: NearMiss | None = None


@attrs.frozen
class Remedy:
    """Conditions that would all have to change, and the slots that would then be candidates."""

    conditions: tuple[Condition, ...]
    slots: int


def merged(rejected: Sequence[tuple[Reason, Mask]]) -> list[tuple[Reason, Mask]]:
    """Return each enforced reason once, with all slots that it rejects."""
    found: dict[Hashable, tuple[Reason, Mask]] = {}
    for reason, mask in rejected:
        if reason.mode is Mode.ENFORCE:
            key = reason.provenance, reason.code, reason.text
            before = found.get(key)
            found[key] = (reason, mask if before is None else before[1] | mask)
    return list(found.values())


def is_of_use(reason: Reason) -> bool:
    """True if a reason rejects slots because they are in use."""
    return reason.code in _OF_USE or reason == ONLY_BY_RANK


def lever_of(reason: Reason, near: NearMiss | None) -> Lever:
    """Return who can change a condition; one with a number of the job can be met by its owner."""
    if reason.code in _OF_JOBS or (near is not None and near.subject):
        return Lever.JOB
    if reason.code in _OF_MACHINES:
        return Lever.MACHINE
    if reason.verdict is Verdict.WAITING and (reason.provenance.plugin == CORE or is_of_use(reason)):
        return Lever.TIME
    return Lever.POOL


def alone(rejections: Rejections) -> Rejections:
    """Return the slots that each condition rejects and no other does, (C, N)."""
    found: Rejections = rejections & (rejections.sum(axis=0) == 1)
    return found


def fewest_together(rejections: Rejections) -> tuple[int, ...]:
    """Return the fewest conditions, by place, that together reject every slot; none if some slot is left."""
    if not rejections.size or not rejections.any(axis=0).all():
        return ()
    patterns, _ = _distinct(rejections)
    for size in range(1, min(_EXACT, len(patterns)) + 1):
        for chosen in combinations(range(len(patterns)), size):
            if patterns[list(chosen)].any(axis=0).all():
                return chosen
    return _step_by_step(patterns)


def _distinct(rejections: Rejections) -> tuple[Rejections, NDArray[np.intp]]:
    """Return the columns that differ, each once, and how many slots each stands for."""
    packed = np.ascontiguousarray(np.packbits(rejections, axis=0).T)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    return rejections[:, first], counts


def _step_by_step(patterns: Rejections) -> tuple[int, ...]:
    """Return conditions that reject everything: again and again the one that rejects most of what is left."""
    left, chosen = np.ones(patterns.shape[1], np.bool_), []
    while left.any():
        best = int((patterns & left).sum(axis=1).argmax())
        chosen.append(best)
        left &= ~patterns[best]
    return tuple(sorted(chosen))


def fewest_to_change(rejections: Rejections) -> list[tuple[tuple[int, ...], int]]:
    """Return the smallest sets of conditions of which a change would open slots, by place, with how many; most slots first."""
    if not rejections.size:
        return []
    counts = rejections.sum(axis=0)
    if not counts.min():
        return []
    patterns, slots = _distinct(rejections[:, counts == counts.min()])
    order = np.argsort(-slots, kind="stable")[:_MOST_REMEDIES].tolist()
    return [(tuple(np.flatnonzero(patterns[:, each]).tolist()), int(slots[each])) for each in order]
