"""Why a request had no turn: its submitter took no part, reached its share or its ceiling, or its group its quota."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from negotiator.plugin import QueuedRequest, WaitReason
from negotiator_fairshare.accounts.use import UseCounter
from negotiator_fairshare.group_turns import GroupTurns
from negotiator_fairshare.groups.records import SkipReason
from negotiator_fairshare.pie.submitters import SubmitterAd
from negotiator_fairshare.pie.trace import PieRecord, TurnRecord, TurnSkip

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


@attrs.frozen(eq=False)
class SubmitterReasons:
    """The reasons of one cycle, by submitter and schedd in lower case; ``names`` are their names as written."""

    names: Mapping[tuple[str, str], str]
    turns: Mapping[tuple[str, str], TurnRecord]
    use: UseCounter
    groups: GroupTurns | None

    @classmethod
    def of(
        cls,
        submitters: Iterable[SubmitterAd],
        pies: Sequence[PieRecord],
        use: UseCounter,
        groups: GroupTurns | None,
    ) -> SubmitterReasons:
        """Return the reasons after the last turn: the last turn of each submitter counts."""
        turns = {
            (turn.submitter.lower(), turn.schedd.lower()): turn
            for pie in pies
            for spin in pie.spins
            for turn in spin.turns
        }
        return cls({each.key: each.name for each in submitters}, turns, use, groups)

    def reason(self, queued: QueuedRequest) -> WaitReason | None:
        """Return why a request had no turn, None if it is not known."""
        key = queued.request.submitter.lower(), queued.request.schedd.lower()
        if key not in self.names:
            return _ABSENT
        turn = self.turns.get(key)
        if turn is None:
            return self._group(self.names[key])
        if turn.skip is TurnSkip.NO_IDLE_JOBS:
            return _NO_IDLE_JOBS
        used = self.use.weighted(turn.submitter)
        if turn.skip is TurnSkip.CEILING:
            ceiling = turn.usage + (turn.ceiling_left or 0.0)
            return _compared("ceiling", "ceiling", f"{turn.submitter} has reached its ceiling", used, ceiling)
        return _compared(
            *("fair share", "share_used"),
            f"{turn.submitter} has used its share of the pool in this cycle",
            *(used, turn.usage + turn.limit),
        )

    def _group(self, submitter: str) -> WaitReason | None:
        """Return why the group of a submitter had no turn, or why its turn ended before that of the submitter."""
        if self.groups is None:
            return None
        group = self.groups.configuration.tree.group_of(submitter)
        used, quota = self.use.weighted(group), self.groups.quotas.assigned[group]
        skipped = [each.skipped[group] for each in self.groups.rounds.records if group in each.skipped]
        code, text = _GROUPS[skipped[-1] if skipped else SkipReason.AT_QUOTA]
        return _compared("accounting groups", code, f"group {group} {text}", used, quota)


def _compared(rule: str, code: str, text: str, used: float, limit: float) -> WaitReason:
    """Return a reason with the weights that were compared."""
    return WaitReason(rule, code, f"{text}: it uses {used:g} of {limit:g}", {"used": used, "limit": limit})
