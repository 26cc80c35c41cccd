"""Why a request had no turn or no more slots: its submitter's ads, its share or ceiling, or the quota of its group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Self

import attrs

from negotiator.plugin import QueuedRequest, WaitReason
from negotiator_fairshare.group_turns import GroupTurns
from negotiator_fairshare.groups.limits import QuotaConstraint, usage_of_subtree
from negotiator_fairshare.groups.records import SkipReason
from negotiator_fairshare.pie.order import FairShareOrder
from negotiator_fairshare.pie.trace import PieHalt, PieRecord, TurnEnd, TurnRecord, TurnSkip, TurnStop

_ABSENT = WaitReason(
    "submitter ads",
    "no_submitter",
    "no submitter ad of this submitter and schedd takes part: it is missing, or has no jobs, a blank in its name, or "
    "SkipMatchmaking",
)
_NO_IDLE_JOBS = WaitReason("submitter ads", "no_idle_jobs", "IdleJobs of the submitter's ad is 0")

_GROUPS = {
    SkipReason.NOTHING_ALLOCATED: ("nothing_allocated", "is allocated no slots in this cycle"),
    SkipReason.AT_QUOTA: ("group_quota", "has reached its quota"),
    SkipReason.NO_SUBMITTERS: ("no_submitter", "has no submitters that take part"),
}


@attrs.define(eq=False)
class SubmitterReasons:
    """The reasons of one cycle, by submitter and schedd in lower case; ``names`` are their names as written.

    ``turns`` are their last turns, each with its call of the pie. The numbers of reasons are those after the last turn of all.
    """

    order: FairShareOrder
    groups: GroupTurns | None
    names: Mapping[tuple[str, str], str]
    turns: Mapping[tuple[str, str], tuple[TurnRecord, PieRecord]]
    _found: dict[tuple[str, str], WaitReason | None] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, order: FairShareOrder, groups: GroupTurns | None) -> Self:
        """Return the reasons after the last turn."""
        # A turn that the quirk ``undefined_limit`` gave no limit (NaN) ends nothing that has not ended before.
        pies = sorted(order.pies, key=lambda pie: pie.quota is None or not math.isnan(pie.quota))
        turns = {
            (turn.submitter.lower(), turn.schedd.lower()): (turn, pie)
            for pie in pies
            for spin in pie.spins
            for turn in spin.turns
        }
        return cls(order, groups, {each.key: each.name for each in order.submitters}, turns)

    def reason(self, queued: QueuedRequest) -> WaitReason | None:
        """Return why a request had no turn or no more slots, None if it is not known; one for all of a submitter."""
        key = queued.request.submitter.lower(), queued.request.schedd.lower()
        if key not in self._found:
            self._found[key] = self._reason(key)
        return self._found[key]

    def _reason(self, key: tuple[str, str]) -> WaitReason | None:
        if key not in self.names:
            return _ABSENT
        if key not in self.turns:
            return self._without_turn(self.names[key])
        turn, pie = self.turns[key]
        if turn.skip is TurnSkip.NO_IDLE_JOBS:
            return _NO_IDLE_JOBS
        account = self.order.accounts(turn.submitter)
        if turn.skip is TurnSkip.CEILING or turn.stop is TurnStop.CEILING:
            text = f"{turn.submitter} has reached its ceiling"
            return self._compared("ceiling", "ceiling", text, account.usage, account.ceiling)
        if turn.end is TurnEnd.DONE or turn.stop is TurnStop.TIME:
            return None  # its share was not used up: its requests were rejected for other reasons
        return self._quota_of(pie) or self._compared(
            *("fair share", "share_used", f"{turn.submitter} has used its share of the pool in this cycle"),
            *(account.usage, turn.usage + turn.limit),
        )

    def _quota_of(self, pie: PieRecord) -> WaitReason | None:
        """Return that the group of a call of the pie has no weight of a slot left; None if it has, or is not bounded."""
        if self.groups is None or pie.bound is None:
            return None
        used = self.order.cycle.use.weighted(pie.group)
        if pie.bound - used >= self.order.cycle.min_slot_weight:
            return None
        constraint = self._constraint(pie)
        if constraint is not None:
            return self._quota_above(self.groups, constraint)
        quota = self.groups.rounds.assigned[pie.group]
        limit = quota if pie.quota is None or math.isnan(pie.quota) else pie.bound
        text = "has used its quota and its surplus" if limit > quota else _GROUPS[SkipReason.AT_QUOTA][1]
        return self._of_group(pie.group, "group_quota", text, used, limit)

    def _constraint(self, pie: PieRecord) -> QuotaConstraint | None:
        """Return the quota of a group above that bounded a call of the pie."""
        rounds: Sequence[QuotaConstraint] = () if self.groups is None else self.groups.constraints
        for each in reversed(rounds):
            if each.group == pie.group and each.limit == pie.quota:
                return each if each.constrained_by != pie.group else None
        return None

    def _quota_above(self, groups: GroupTurns, constraint: QuotaConstraint) -> WaitReason:
        tree, above = groups.configuration.tree, constraint.constrained_by
        usage = {name: self.order.cycle.use.weighted(name) for name in tree.nodes}
        used, own = usage_of_subtree(tree, tree.nodes[above], usage), tree.nodes[above].group
        quota = own.quota if own.static else groups.quotas.subtree[above]
        text = f"has reached its quota, of which group {constraint.group} is a part"
        return self._of_group(above, "group_quota", text, used, quota)

    def _without_turn(self, submitter: str) -> WaitReason | None:
        """Return why the group of a submitter had no turn, or why its turn ended before that of the submitter."""
        use = self.order.cycle.use
        if self.groups is None:
            if not any(pie.halted is PieHalt.NO_PIE_LEFT for pie in self.order.pies):
                return None
            used, text = use.weighted(submitter), f"{submitter} has used its share of the pool in this cycle"
            return WaitReason(
                "fair share", "share_used", f"{text}: it uses {self._amount(used)}", {"used": used}
            )
        group = self.groups.configuration.tree.group_of(submitter)
        skipped = [each.skipped[group] for each in self.groups.rounds.records if group in each.skipped]
        code, text = _GROUPS[skipped[-1] if skipped else SkipReason.AT_QUOTA]
        return self._of_group(group, code, text, use.weighted(group), self.groups.quotas.assigned[group])

    def _of_group(self, group: str, code: str, text: str, used: float, limit: float) -> WaitReason:
        return self._compared("accounting groups", code, f"group {group} {text}", used, limit)

    def _compared(self, rule: str, code: str, text: str, used: float, limit: float) -> WaitReason:
        """Return a reason with what is used and what may be, in weights of slots."""
        shown = f"{text}: it uses {_number(used)} of {self._amount(limit)}"
        return WaitReason(rule, code, shown, {"used": used, "limit": limit})

    def _amount(self, value: float) -> str:
        unit = "weighted slots" if self.order.cycle.settings.use_weights else "slots"
        return f"{_number(value)} {unit}"


def _number(value: float) -> str:
    return f"{round(value, 2):.12g}"
