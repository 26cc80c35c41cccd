"""Dynamic slots whose jobs one match ends together, until their partitionable slot has enough for the request.

A partitionable slot that does not match by itself is tried with what one of its dynamic slots holds, then with what two of them hold,
and so on, in their order; the first that match are the candidates. All partitionable slots are tried at once, as the rows of one table.
Source: HTCondor manual, "Partitionable Slot Preemption" and ALLOW_PSLOT_PREEMPTION; condor_negotiator 25.14, ``pslotMultiMatch``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Self

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Environment, Table, bind, evaluate_table, parse
from negotiator.classad.columnar import DependencyIndex, MemoryBudget
from negotiator.classad.syntax import Literal
from negotiator.cycle.divisible_slots import MOST_RESOURCES, resource_names, with_resources
from negotiator.cycle.numbering import Numbers, combined
from negotiator.cycle.rank import Ranks, ReplacedRanks
from negotiator.hooks.order import SlotAllowance
from negotiator.hooks.records import Mask, Request
from negotiator.hooks.slot_offer import (
    JointPreemption,
    Preemption,
    PreemptionStates,
    PreemptionVictims,
    SharedBudget,
)
from negotiator.ledger import Rows

_DYNAMIC = bind(parse("MY.DynamicSlot =?= true"))
_DIVIDED = bind(parse("MY.PartitionableSlot =?= true"))
_KEEPS_JOB = bind(parse('MY.RetirementTimeRemaining > 0 || MY.State == "Preempting"'))
_CURRENT_RANK = bind(parse("MY.CurrentRank"))
_RANK = bind(parse("MY.Rank"))
#: So many dynamic slots of each slot are tried at once: a table costs more than some rows of it.
_FIRST_WAVE = 8
#: A partitionable slot and its dynamic slots are equal in these.
_PARENT = ("Machine", "MyAddress", "SlotID")


@attrs.frozen(eq=False)
class EnlargedSlots:
    """Partitionable slots that match a request with what some of their dynamic slots hold: ``rows`` (M,), ascending.

    ``slots`` (M,) are their ads with these resources. A match with the slot ``rows[place]`` ends the jobs of ``ended[of == place]``,
    rows of dynamic slots. ``states`` (M,) are what each match ends, ``ranks`` replace those of the slots.
    """

    rows: Rows
    slots: Table
    states: PreemptionStates
    ended: Rows
    of: Rows
    ranks: ReplacedRanks

    @property
    def is_of_victims(self) -> bool:
        """True if the slots were found for a turn with ``PreemptionVictims``."""
        return bool((self.states == Preemption.GUARANTEE).any())

    def jobs_of(self, row: int) -> Rows:
        """Return the dynamic slots whose jobs a match with a slot ends; none if the slot is not enlarged."""
        return np.asarray(self.ended[self.rows[self.of] == row], np.intp)

    def ended_by(self, rows: Rows) -> Rows:
        """Return the dynamic slots whose jobs the matches with some slots end."""
        return np.asarray(self.ended[np.isin(self.rows[self.of], rows)], np.intp)

    def placed(self, values: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of all slots, (N,), with those of the enlarged slots, (M,)."""
        values = values.copy()
        values[self.rows] = own
        return values

    def allowance(self, allowance: SlotAllowance | None) -> SlotAllowance | None:
        """Return an allowance in which an enlarged slot weighs what it has then."""
        if allowance is None or allowance.weigh is None:
            return allowance
        weights = self.placed(allowance.weights, allowance.weigh(self.slots, None))
        return attrs.evolve(allowance, weights=weights)

    def only(self, keep: Mask) -> EnlargedSlots:
        """Return some of the slots, (M,)."""
        places, kept = np.cumsum(keep) - 1, keep[self.of]
        return EnlargedSlots(
            self.rows[keep],
            self.slots.take(keep),
            self.states[keep],
            self.ended[kept],
            places[self.of[kept]],
            ReplacedRanks(self.rows[keep], tuple(each[keep] for each in self.ranks.values)),
        )


@attrs.frozen(eq=False)
class _Tries:
    """Partitionable slots with the first of their dynamic slots: one, two and so on, in (T,) rows.

    ``parent`` (T,) is the row of the partitionable slot, ``number`` (T,) how many dynamic slots they are, and ``amounts`` (R, T) what the
    slot then has, NaN for what is not divided. The rows of a slot are consecutive, and begin with one dynamic slot.
    """

    parent: Rows
    number: Rows
    amounts: NDArray[np.float64]

    def take(self, places: Rows) -> _Tries:
        return _Tries(self.parent[places], self.number[places], self.amounts[:, places])

    def slots(self, slots: Table, resources: Sequence[str]) -> Table:
        """Return the slots as they would be."""
        enlarged = slots.copies(self.parent)
        return with_resources(enlarged, resources, np.arange(len(self.parent)), self.amounts)

    def waves(self) -> Iterator[Rows]:
        """Yield the places of up to eight dynamic slots of each slot, then of up to sixteen, and so on: few need many."""
        first, last = 0, _FIRST_WAVE
        while first < self.number.max(initial=0):
            yield np.flatnonzero((self.number > first) & (self.number <= last))
            first, last = last, 2 * last


@attrs.define(eq=False)
class DynamicSlots:
    """The dynamic slots of a cycle that matches may end, in the order in which they are tried: ``rows`` (C,) of ``slots``.

    ``parent`` (C,) are the rows of their partitionable slots, ascending; ``amounts`` (R, C) what they have of each resource, and ``left``
    (R, N) what partitionable slots have, NaN for what is not divided. ``offered`` (C,) are those that are tried no more in this cycle.
    """

    slots: Table
    rules: JointPreemption
    rows: Rows
    parent: Rows
    current_rank: NDArray[np.float64]
    resources: tuple[str, ...]
    amounts: NDArray[np.float64]
    left: NDArray[np.float64]
    offered: Mask
    _listed: tuple[object, EnlargedSlots | None] | None = attrs.field(default=None, init=False)

    @classmethod
    def of(
        cls, slots: Table, rules: JointPreemption, env: Environment, claimable: Mask, with_policy: Rows
    ) -> Self | None:
        """Return the dynamic slots; None if there are none.

        :param claimable: the slots that have a claim id, (N,).
        :param with_policy: slots with a consumption policy: several matches share what is left of them, and none ends jobs.
        """
        dynamic = rules.slots & evaluate_table(_DYNAMIC, slots, env=env).is_true()
        if not dynamic.any():
            return None
        divided = np.array(evaluate_table(_DIVIDED, slots, env=env).is_true())
        divided[with_policy] = False
        parents = _parents(slots, divided)
        keeps = evaluate_table(_KEEPS_JOB, slots, env=env).is_true()
        rows = np.flatnonzero(dynamic & ~divided & (parents >= 0) & claimable & ~keeps)
        ranks = np.nan_to_num(evaluate_table(_CURRENT_RANK, slots.take(rows), env=env).numbers(0.0))
        ids = np.nan_to_num(slots.take(rows).numbers("DSlotID", default=0.0))
        order = np.lexsort((rows, ids, ranks, parents[rows]))
        rows, ranks = rows[order], ranks[order]
        resources, left = _left(slots, divided, env)
        amounts = np.full((len(resources), len(rows)), np.nan)
        for place, name in enumerate(resources):
            amounts[place] = _numbers(name, slots.take(rows), env)
        return cls(
            *(slots, rules, rows, parents[rows], ranks, resources, np.nan_to_num(amounts)),
            *(left, np.zeros(len(rows), np.bool_)),
        )

    @property
    def most_of_slot(self) -> int:
        """The largest number of dynamic slots of one slot."""
        return int(_number(self.parent).max(initial=0))

    def find(
        self,
        request: Request,
        env: Environment,
        tried: Mask,
        matches: Callable[[Table], Mask],
        ranks: Ranks,
        by_priority: Mask | None,
        rank: Callable[[Ranks], NDArray[np.float64]],
        listing: object = None,
    ) -> EnlargedSlots | None:
        """Return the partitionable slots that match with dynamic slots that like the request more, or may be ended by priority.

        :param tried: the partitionable slots to try, (N,).
        :param matches: returns which slots of a table match the request.
        :param ranks: those of the pool.
        :param by_priority: the slots, (N,), whose jobs may be ended by priority; None if none may be.
        :param rank: returns the rank of preemption.
        :param listing: the candidates were found before for the same one.
        """
        if listing is not None and self._listed is not None and self._listed[0] is listing:
            found = self._listed[1]
            return None if found is None else found.only(tried[found.rows])
        usable = tried[self.parent] & ~self.offered
        likes = self._likes(usable, request, env)
        by_rank = self.current_rank < likes
        priority = np.zeros(len(self.rows), np.bool_)
        if by_priority is not None:
            priority = (self.current_rank == likes) & by_priority[self.rows]
        usable &= by_rank | priority
        chosen = self._first(self._tries(np.flatnonzero(usable)), matches)
        found = None
        if len(chosen.parent):
            used, of = self._used(usable, chosen)
            states = np.full(len(chosen.parent), Preemption.RANK, np.int8)
            states[of[priority[used]]] = Preemption.PRIORITY
            found = self._enlarged(chosen, used, of, states, request, env, ranks, rank)
            if self.rules.tried_once:
                self.offered[used] = True
        self._listed = listing, found
        return found

    def find_victims(
        self,
        request: Request,
        env: Environment,
        tried: Mask,
        matches: Callable[[Table], Mask],
        ranks: Ranks,
        victims: PreemptionVictims,
    ) -> EnlargedSlots | None:
        """Return the partitionable slots that match with dynamic slots whose jobs a turn may end, none of them needlessly.

        The scores of ``ranks`` (N,) tell which job is ended first; of a slot with several it is that of the one to be ended last, below
        those of all slots with fewer.
        """
        scores = np.zeros(len(self.slots)) if ranks.scores is None else ranks.scores
        own = scores[self.rows]
        usable = tried[self.parent] & victims.slots[self.rows]
        usable &= self.current_rank <= self._likes(usable, request, env)
        order = np.lexsort((self.rows, -own, self.parent))
        places = order[usable[order]]
        places = _within(self._budget_rows(places, victims.budgets), places)
        chosen = self._first(self._tries(places[_number(self.parent[places]) <= victims.most]), matches)
        if not len(chosen.parent):
            return None
        mask = np.zeros(len(self.rows), np.bool_)
        mask[places] = True
        used, of = self._used(mask, chosen, order)
        used, of, chosen = self._without_needless(used, of, chosen, matches)
        states = np.full(len(chosen.parent), Preemption.GUARANTEE, np.int8)
        worst = np.full(len(chosen.parent), np.inf)
        np.minimum.at(worst, of, own[used])
        span = scores.max(initial=0.0) - scores.min(initial=0.0) + 1.0
        loss = worst - (np.bincount(of, minlength=len(worst)) - 1) * span
        return self._enlarged(chosen, used, of, states, request, env, ranks, None, loss)

    def _likes(self, usable: Mask, request: Request, env: Environment) -> NDArray[np.float64]:
        """Return the rank of the request on the partitionable slot of each dynamic one, (C,); 0 for those that are not usable."""
        likes = np.zeros(len(self.slots))
        parents = np.unique(self.parent[usable])
        likes[parents] = _own_rank(self.slots.take(parents), request, env)
        return likes[self.parent]

    def _budget_rows(
        self, places: Rows, budgets: Sequence[SharedBudget]
    ) -> list[tuple[Numbers, NDArray[np.float64], NDArray[np.float64]]]:
        """Return, for each budget, a number of the partitionable slot and holder of each place, the amount, and the budget, (K,)."""
        rows = self.rows[places]
        return [
            (
                combined(self.parent[places], each.codes[rows])[0],
                each.amounts[rows],
                each.left[each.codes[rows]],
            )
            for each in budgets
        ]

    def _tries(self, places: Rows) -> _Tries:
        """Return each partitionable slot with the first of its dynamic slots, the first two and so on; (T,) places by parent."""
        parent = self.parent[places]
        amounts = self.amounts[:, places]
        # Each step adds to what was rounded down, as condor_negotiator adds.
        whole = np.floor(amounts)
        sums = _sums(whole, parent) - whole + amounts
        return _Tries(parent, _number(parent), np.floor(self.left[:, parent]) + sums)

    def _first(self, tries: _Tries, matches: Callable[[Table], Mask]) -> _Tries:
        """Return the first of each partitionable slot that match, by its row."""
        found, done = [np.zeros(0, np.intp)], np.zeros(len(self.slots), np.bool_)
        for wave in tries.waves():
            places = wave[~done[tries.parent[wave]]]
            if len(places):
                slots = tries.take(places).slots(self.slots, self.resources)
                match = places[matches(slots)]
                found.append(match[np.unique(tries.parent[match], return_index=True)[1]])
                done[tries.parent[match]] = True
        return tries.take(np.sort(np.concatenate(found)))

    def _used(self, usable: Mask, chosen: _Tries, order: Rows | None = None) -> tuple[Rows, Rows]:
        """Return the places of the dynamic slots of each choice, (E,), and the number of the choice of each."""
        places = np.flatnonzero(usable) if order is None else order[usable[order]]
        choice = np.full(len(self.slots), -1, np.intp)
        choice[chosen.parent] = np.arange(len(chosen.parent))
        of = choice[self.parent[places]]
        number = _number(self.parent[places])
        is_used = (of >= 0) & (number <= chosen.number[of])
        return places[is_used], of[is_used]

    def _without_needless(
        self, used: Rows, of: Rows, chosen: _Tries, matches: Callable[[Table], Mask]
    ) -> tuple[Rows, Rows, _Tries]:
        """Leave out dynamic slots without which the others are enough, the one to be ended last first."""
        from_last = chosen.number[of] - _number(of)  # 0 for the last of each
        for step in range(int(chosen.number.max(initial=0))):
            place = np.flatnonzero(from_last == step)
            fewer = chosen.take(of[place])
            own = self.amounts[:, used[place]]
            fewer = attrs.evolve(fewer, amounts=fewer.amounts - own)
            needless = matches(fewer.slots(self.slots, self.resources)) & (chosen.number[of[place]] > 1)
            dropped = place[needless]
            chosen.amounts[:, of[dropped]] -= own[:, needless]
            chosen.number[of[dropped]] -= 1
            from_last[dropped] = -1
        kept = from_last >= 0
        return used[kept], of[kept], chosen

    def _enlarged(
        self,
        chosen: _Tries,
        used: Rows,
        of: Rows,
        states: PreemptionStates,
        request: Request,
        env: Environment,
        ranks: Ranks,
        rank: Callable[[Ranks], NDArray[np.float64]] | None,
        scores: NDArray[np.float64] | None = None,
    ) -> EnlargedSlots:
        """Return the chosen slots with their ranks, which see that they end jobs."""
        slots = chosen.slots(self.slots, self.resources)
        size = len(slots)
        if self.rules.remote_user:
            user = np.zeros(size, np.int64), [Literal(self.rules.remote_user)]
            slots = slots.with_attributes({"RemoteUser": user})
        own = ranks.over(DependencyIndex(slots), env, MemoryBudget.of(size))
        own.scores = scores
        values = own.of(np.arange(size), request.ad, env)
        further = () if rank is None else (states.astype(np.float64), rank(own))
        replaced = ReplacedRanks(chosen.parent, (*values, *further))
        return EnlargedSlots(chosen.parent, slots, states, self.rows[used], of, replaced)


def wants_joint_preemption(request: Request) -> bool:
    """True unless a request says that its schedd can't claim a slot of which jobs are to be ended.

    Schedds write WantPslotPreemption into requests since HTCondor 8.1; the ads of their queues do not have it.
    """
    return request.ad.evaluate("WantPslotPreemption") is not False


def _parents(slots: Table, divided: Mask) -> NDArray[np.intp]:
    """Return the row of the partitionable slot of each slot, (N,); -1 for none."""
    numbers, first = slots.group(_PARENT)
    known = np.full(len(first), -1, np.intp)
    rows = np.flatnonzero(divided)[::-1]
    known[numbers[rows]] = rows
    named = ~np.isnan(slots.numbers("SlotID"))
    return np.where(named, known[numbers], -1)


def _left(slots: Table, divided: Mask, env: Environment) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the resources that partitionable slots divide, and what each slot has of them, (R, N); NaN if it does not divide one."""
    listed = slots.strings("MachineResources")
    found: dict[str, tuple[str, NDArray[np.float64]]] = {}
    rows = np.flatnonzero(divided)
    kinds = {text: rows[listed[rows] == text] for text in dict.fromkeys(listed[rows].tolist())}
    for text, own in kinds.items():
        for name in islice(resource_names(text), MOST_RESOURCES):
            _, values = found.setdefault(name.lower(), (name, np.full(len(slots), np.nan)))
            values[own] = _numbers(name, slots.take(own), env)
    left = np.array([values for _, values in found.values()]).reshape(len(found), len(slots))
    return tuple(name for name, _ in found.values()), left


def _numbers(name: str, slots: Table, env: Environment) -> NDArray[np.float64]:
    values = evaluate_table(bind(parse(f"MY.{name}")), slots, env=env).numbers()
    return np.where(np.isfinite(values), values, np.nan)


def _own_rank(slots: Table, request: Request, env: Environment) -> NDArray[np.float64]:
    """Return what slots think of a request, by their Rank."""
    return np.nan_to_num(evaluate_table(_RANK, slots, request.ad, env=env).numbers(0.0))


def _number(parent: Rows) -> NDArray[np.int64]:
    """Return the number of each row among those of its parent, from 1; the rows of a parent are consecutive."""
    places = np.arange(len(parent))
    first = np.flatnonzero(np.diff(parent, prepend=-1))
    counts = np.diff(np.append(first, len(parent)))
    return places - np.repeat(first, counts) + 1


def _sums(values: NDArray[np.float64], parent: Rows) -> NDArray[np.float64]:
    """Return the sums from the first row of each parent on, (R, T)."""
    sums = np.cumsum(values, axis=1)
    before = (sums - values)[:, np.arange(len(parent)) - _number(parent) + 1]
    return sums - before


def _within(
    budgets: Sequence[tuple[Numbers, NDArray[np.float64], NDArray[np.float64]]], places: Rows
) -> Rows:
    """Leave out dynamic slots that would take more than a budget with those before them, (K,)."""
    keep = np.ones(len(places), np.bool_)
    while True:
        exceeding = np.zeros(len(places), np.bool_)
        for holder, amounts, left in budgets:
            rows = np.flatnonzero(keep)
            order = rows[np.argsort(holder[rows], kind="stable")]
            total = _sums(amounts[order][None, :], holder[order])[0]
            over = (amounts[order] > 0) & (total > left[order])
            # Only the first of each holder is certain to exceed it: those after it may fit without it.
            first = order[over][np.unique(holder[order][over], return_index=True)[1]]
            exceeding[first] = True
        if not exceeding.any():
            return places[keep]
        keep &= ~exceeding
