"""What happened in the pie: its spins, the turns of submitters, and the rejections, as condor_negotiator's log has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum

import attrs

from negotiator.plugin import (
    OrderCounts,
    ShareUse,
)


class TurnEnd(StrEnum):
    """What becomes of a submitter after its turn."""

    RESUME = "resume"  # it has a turn in the next spin
    DONE = "done"  # it has none


class TurnStop(StrEnum):
    """Why a turn ended before its requests did."""

    LIMIT = "limit"
    UNWEIGHTED_LIMIT = "limit, unweighted"
    CEILING = "ceiling"
    TIME = "time"


class TurnSkip(StrEnum):
    """Why a submitter had no turn in a spin."""

    NO_IDLE_JOBS = "no idle jobs"
    PIE_TOO_SMALL = "pie_left < min_slot_weight"
    CEILING = "ceiling"
    TIME = "time"


class PieHalt(StrEnum):
    """Why a call of the pie ended although slots and submitters were left."""

    NO_PIE_LEFT = "no pie left"
    GROUP_AT_QUOTA = "group at quota"


class RejectionText(StrEnum):
    """The reasons that are sent to a schedd."""

    NO_MATCH = "no match found"
    PREEMPTION_REQUIREMENTS = "PREEMPTION_REQUIREMENTS == False"
    LIMIT = "submitter limit exceeded"


@attrs.frozen
class TurnRecord:
    """The turn of one submitter in a spin; weights are those of slots.

    ``limit`` is what it may take in this turn, ``starved`` what was cut from that because the pie was used up.
    ``only_startd_rank``: beyond its limit only slots that prefer its job were looked for.
    """

    submitter: str
    schedd: str
    end: TurnEnd
    priority: float = 0.0
    factor: float = 0.0
    share: float = 0.0
    abs_share: float = 0.0
    limit: float = 0.0
    starved: float = 0.0
    usage: float = 0.0
    ceiling_left: float | None = None
    matched: int = 0
    rejected: int = 0
    only_startd_rank: bool = False
    stop: TurnStop | None = None
    skip: TurnSkip | None = None


@attrs.frozen
class SpinRecord:
    """One spin: the slots of the pool and those that are left, the weight of the pie, and the turns in their order."""

    slots: int
    slots_left: int
    slot_weight_total: float
    min_slot_weight: float
    pie_left: float
    normal_factor: float
    max_priority: float
    submitters: int
    turns: tuple[TurnRecord, ...]


@attrs.frozen
class PieRecord:
    """One call of the pie: its spins. ``halted`` says why it ended although slots and submitters were left.

    ``group`` is the accounting group whose submitters took part, empty without groups and in the root with autoregroup;
    ``quota`` its limit before it was cut to a whole number, None without a limit. ``bound`` is the weight that the group may use in
    all, None if its use is not bounded.
    """

    spins: tuple[SpinRecord, ...]
    floor_round: bool = False
    halted: PieHalt | None = None
    group: str = ""
    quota: float | None = None
    bound: float | None = None


@attrs.frozen
class RejectionRecord:
    """The rejection of a request: the row of its first job, and the reason."""

    submitter: str
    schedd: str
    job_row: int
    reason: str


def counts_of(pies: Iterable[PieRecord]) -> OrderCounts:
    """Return the statistics of a cycle. A submitter that may resume in the next spin used up its share in this one."""
    found = list(pies)
    spins = [spin for pie in found for spin in pie.spins]
    limited = (turn.submitter for spin in spins for turn in spin.turns if turn.end is TurnEnd.RESUME)
    return OrderCounts(len(found), len(spins), tuple(dict.fromkeys(limited)))


def shares_of(pies: Iterable[PieRecord], used: Callable[[str], float]) -> tuple[ShareUse, ...]:
    """Return what each submitter with idle jobs was entitled to at its first turn, and what it used, in weights of slots.

    :param used: returns the weight that a submitter uses after the cycle.
    """
    first: dict[str, tuple[TurnRecord, float]] = {}
    matched: Counter[str] = Counter()
    for pie in pies:
        for spin in pie.spins:
            for turn in spin.turns:
                if turn.skip is not TurnSkip.NO_IDLE_JOBS:
                    first.setdefault(turn.submitter, (turn, turn.share * spin.slot_weight_total))
                    matched[turn.submitter] += turn.matched
    return tuple(
        ShareUse(
            holder=name,
            entitled=entitled,
            used_before=turn.usage,
            used=used(name),
            granted=matched[name],
            priority=turn.priority,
            unit="slot weight",
        )
        for name, (turn, entitled) in first.items()
    )
