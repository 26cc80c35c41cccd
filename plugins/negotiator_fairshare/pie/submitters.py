"""The submitter ads of a pool, the weights of its slots, and what each submitter uses."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Environment, Expr, Mask, QueuedRequest, Table, bind, evaluate_table, parse

_SLOT_WEIGHT = bind(parse("MY.SlotWeight"))
_USER = bind(parse("MY.AccountingGroup ?: MY.RemoteUser"))
_SUSPENDED = bind(parse('MY.Activity == "Suspended"'))
#: No machine is heavier: sums of weights stay exact.
_HEAVIEST = 2.0**30
_LARGEST = 2.0**53
#: States of a slot that is in use (HTCondor manual, Machine ClassAd Attributes, State).
_CLAIMED = bind(parse('MY.State == "Claimed" || MY.State == "Preempting"'))


@attrs.frozen
class SubmitterAd:
    """One submitter at one schedd. ``heard`` is LastHeardFrom, in seconds since the epoch; ``place`` its place as read.

    ``weighted_idle`` and ``weighted_running`` are the weights of its jobs; their numbers, if the ad has no weights.
    ``priorities`` are the least and the largest JobPrio of its jobs; None for jobs of any.
    """

    name: str
    schedd: str
    idle: int
    running: int
    heard: int
    place: int
    weighted_idle: float
    weighted_running: float
    priorities: tuple[int, int] | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The submitter and the schedd in lower case, as requests name them."""
        return self.name.lower(), self.schedd.lower()


def submitter_ads(submitters: Table) -> tuple[SubmitterAd, ...]:
    """Return the submitters that take part; without a valid name, with no jobs, or with SkipMatchmaking none does."""
    idle, running, heard = (
        _whole(submitters.numbers(name, default=0.0)) for name in ("IdleJobs", "RunningJobs", "LastHeardFrom")
    )
    weighted_idle, weighted_running = (
        _weights(submitters.numbers(f"Weighted{name}"), submitters.numbers(name))
        for name in ("IdleJobs", "RunningJobs")
    )
    skip = evaluate_table(parse("MY.SkipMatchmaking"), submitters).is_true()
    names, schedds = submitters.strings("Name"), submitters.strings("ScheddName")
    return tuple(
        SubmitterAd(
            *(name, schedds[row] or "", idle[row], running[row], heard[row], row),
            *(weighted_idle[row], weighted_running[row]),
        )
        for row, name in enumerate(names)
        if name and not any(map(str.isspace, name)) and idle[row] + running[row] > 0 and not skip[row]
    )


def submitters_of_jobs(requests: Sequence[QueuedRequest]) -> tuple[SubmitterAd, ...]:
    """Return the submitters of requests, for a pool without submitter ads."""
    idle: dict[tuple[str, str], int] = {}
    for queued in requests:
        key = queued.request.submitter, queued.request.schedd
        idle[key] = idle.get(key, 0) + queued.request.count
    return tuple(
        SubmitterAd(name, schedd, count, 0, 0, place, float(count), 0.0)
        for place, ((name, schedd), count) in enumerate(sorted(idle.items()))
        if name
    )


@attrs.frozen(eq=False)
class WeightScale:
    """The weights of slots: SlotWeight, else ``default``; a negative one counts as 1.

    ``use_weights`` False: each slot weighs 1. ``force_default``: use ``default`` for all slots.
    """

    default: Expr
    env: Environment
    use_weights: bool = True
    force_default: bool = False

    def of(self, slots: Table) -> NDArray[np.float64]:
        """Return the weight of each slot, (S,)."""
        if not self.use_weights:
            return np.ones(len(slots))
        own = np.full(len(slots), np.nan)
        if not self.force_default:
            own = evaluate_table(_SLOT_WEIGHT, slots, env=self.env).numbers()
        default = evaluate_table(self.default, slots, env=self.env).numbers(1.0)
        weights = np.where(np.isfinite(own), own, default)
        weights = np.where(np.isfinite(weights), weights, 1.0)
        return np.where(weights < 0, 1.0, weights.clip(max=_HEAVIEST))

    def of_part(self, before: Table, after: Table) -> NDArray[np.float64]:
        """Return the weight that was taken of each slot, (S,); 1 without weights."""
        if not self.use_weights:
            return np.ones(len(before))
        return (self.of(before) - self.of(after)).clip(min=0)


@attrs.frozen(eq=False)
class SlotUse:
    """The slots that are ``claimed``, (S,), those of them that are ``counted``, (S,), and the ``users`` of the latter, (U,).

    A user is an empty name for none.
    """

    claimed: Mask
    counted: Mask
    users: tuple[str, ...]

    @classmethod
    def of(cls, slots: Table, env: Environment, *, discount_suspended: bool = False) -> SlotUse:
        """Find the claimed slots of a pool; suspended ones are not counted if they are to be discounted."""
        claimed = evaluate_table(_CLAIMED, slots, env=env).is_true()
        counted = claimed
        if discount_suspended:
            counted = claimed & ~evaluate_table(_SUSPENDED, slots, env=env).is_true()
        users = evaluate_table(_USER, slots.take(np.flatnonzero(counted)), env=env)
        values = users.values(np.arange(len(users)))
        return cls(claimed, counted, tuple(value if isinstance(value, str) else "" for value in values))


def distinct(submitters: Sequence[SubmitterAd]) -> tuple[str, ...]:
    """Return the names of submitters, each once, in their order."""
    return tuple(dict.fromkeys(each.name for each in submitters))


def _whole(numbers: NDArray[np.float64]) -> list[int]:
    """Return numbers of hostile ads as integers; what is not a number is 0."""
    found: list[int] = np.nan_to_num(numbers).clip(-_LARGEST, _LARGEST).astype(np.int64).tolist()
    return found


def _weights(weighted: NDArray[np.float64], counts: NDArray[np.float64]) -> list[float]:
    """Return the weights of hostile ads: those that are not finite are the counts, else 0; none is negative."""
    found = np.where(np.isfinite(weighted), weighted, np.nan_to_num(counts))
    weights: list[float] = found.clip(0.0, _LARGEST).tolist()
    return weights
