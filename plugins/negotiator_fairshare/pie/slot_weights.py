"""The slots of a pool as fair share counts them: their weights, who uses them, and the size that is divided."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import Environment, Expr, Mask, Table, bind, evaluate_table, parse
from negotiator_fairshare.accounts.account import ResourceRecord, stored
from negotiator_fairshare.accounts.use import UseCounter

_SLOT_WEIGHT = bind(parse("MY.SlotWeight"))
_USER = bind(parse("MY.AccountingGroup ?: MY.RemoteUser"))
_SUSPENDED = bind(parse('MY.Activity == "Suspended"'))
#: No machine is heavier: sums of weights stay exact.
_HEAVIEST = 2.0**30
#: States of a slot that is in use (HTCondor manual, Machine ClassAd Attributes, State).
_CLAIMED = bind(parse('MY.State == "Claimed" || MY.State == "Preempting"'))
_PARTITIONABLE = bind(parse("MY.PartitionableSlot"))
_GHOSTS = bind(parse("MY.GhostMultiplier"))


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

    def of_part(self, before: Table, after: Table | None) -> NDArray[np.float64]:
        """Return the weight that was taken of each slot, (S,), its own without ``after``; 1 without weights."""
        if not self.use_weights:
            return np.ones(len(before))
        own = self.of(before)
        return own if after is None else (own - self.of(after)).clip(min=0)


def counted_weights(slots: Table, weights: NDArray[np.float64], env: Environment) -> NDArray[np.float64]:
    """Return what each slot adds to the size of the pool, (S,): its weight, times its GhostMultiplier if it has one.

    An ad of a machine that is switched off may stand for several (HTCondor manual, offline ads of a cloud).
    """
    multipliers = np.trunc(evaluate_table(_GHOSTS, slots, env=env).numbers(1.0)).clip(0.0, _HEAVIEST)
    counted: NDArray[np.float64] = (weights * multipliers).clip(max=_HEAVIEST)
    return counted


def slot_keys(slots: Table) -> list[str]:
    """Return the keys of slots in the records of condor_negotiator's accountant: ``name@address``, (S,)."""
    pairs = zip(slots.strings("Name"), slots.strings("StartdIpAddr"), strict=True)
    return [f"{name or ''}@{address or ''}" for name, address in pairs]


def claimed_slots(slots: Table, env: Environment) -> Mask:
    """Return which slots are claimed, (S,)."""
    return evaluate_table(_CLAIMED, slots, env=env).is_true()


@attrs.frozen(eq=False)
class SlotUse:
    """The slots that are ``claimed``, (S,), those of them that are ``counted``, (S,), and the ``users`` of the latter, (U,).

    A user is an empty name for none.
    """

    claimed: Mask
    counted: Mask
    users: tuple[str, ...]

    def records(self, slots: Table, weights: NDArray[np.float64], now: int) -> dict[str, ResourceRecord]:
        """Return the records of the slots in use, by key.

        :param slots: the same slots, with their weights, (S,).
        :param now: when they are counted, in seconds since the epoch.
        """
        keys, own = slot_keys(slots.take(np.flatnonzero(self.counted))), weights[self.counted].tolist()
        columns = zip(keys, self.users, own, strict=True)
        return {key: ResourceRecord(user, stored(weight), now) for key, user, weight in columns if user}

    @classmethod
    def of(
        cls, slots: Table, env: Environment, *, discount_suspended: bool = False, own: Mask | None = None
    ) -> SlotUse:
        """Find the claimed slots of a pool; suspended ones are not counted if they are to be discounted.

        :param own: the slots that this negotiator counts, (S,); None for all.
        """
        claimed = claimed_slots(slots, env)
        counted = claimed if own is None else claimed & own
        if discount_suspended:
            counted = counted & ~evaluate_table(_SUSPENDED, slots, env=env).is_true()
        users = evaluate_table(_USER, slots.take(np.flatnonzero(counted)), env=env)
        values = users.values(np.arange(len(users)))
        return cls(claimed, counted, tuple(value if isinstance(value, str) else "" for value in values))

    def counter(
        self,
        weights: NDArray[np.float64],
        group_of: Callable[[str], str],
        elsewhere: Mapping[str, tuple[int, int, int]] | None = None,
    ) -> UseCounter:
        """Return a counter of the slots in use.

        :param weights: (S,) of all slots.
        :param group_of: returns the accounting group of a user.
        :param elsewhere: what each name uses of the slots of other negotiators; see ``UseCounter``.
        """
        use = UseCounter(group_of, elsewhere or {})
        for name, weight in zip(self.users, weights[self.counted].tolist(), strict=True):
            if name:
                use.add(name, weight)
        return use


@attrs.frozen
class PoolSize:
    """What is divided: the number of ``slots``, their ``weight``, and the size ``of_groups`` that groups divide."""

    slots: int
    weight: float
    of_groups: float

    @classmethod
    def of(
        cls,
        slots: Table,
        weights: NDArray[np.float64],
        constraint: Expr | None,
        env: Environment,
        *,
        use_weights: bool,
    ) -> PoolSize:
        """Measure a pool.

        Without weights, a partitionable slot counts for groups as many as it has Cpus.

        :param constraint: NEGOTIATOR_SLOT_POOLSIZE_CONSTRAINT; None counts all slots.
        """
        counted = np.ones(len(slots), np.bool_)
        if constraint is not None:
            counted = evaluate_table(constraint, slots, env=env).is_true()
        weight = _sum((counted_weights(slots, weights, env) if use_weights else weights)[counted])
        of_groups = weight if use_weights else _sum(_cores(slots, env)[counted])
        return cls(int(np.count_nonzero(counted)), weight, of_groups)

    def plus(self, other: PoolSize) -> PoolSize:
        """Return the size of two pools together."""
        return PoolSize(
            self.slots + other.slots, self.weight + other.weight, self.of_groups + other.of_groups
        )


def _cores(slots: Table, env: Environment) -> NDArray[np.float64]:
    """Return the Cpus of each partitionable slot, and 1 for other slots, (S,)."""
    whole = evaluate_table(_PARTITIONABLE, slots, env=env).is_true()
    cpus = np.nan_to_num(slots.numbers("Cpus", default=0.0)).clip(0.0, _HEAVIEST)
    return np.where(whole, np.trunc(cpus), 1.0)


def _sum(weights: NDArray[np.float64]) -> float:
    """Add one weight after the other, as condor_negotiator does."""
    return float(np.cumsum(weights)[-1]) if len(weights) else 0.0
