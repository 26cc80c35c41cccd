"""What workers of an engine evaluate: the conditions and the ranks of the requests of one cycle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs

from negotiator.bundle.constraints import BoundConstraint
from negotiator.classad import Ad, Table
from negotiator.cycle.engine import MatchingTask
from negotiator.cycle.rank import Ranks
from negotiator.cycle.requirements import Requirements
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks.records import Cycle, Mask
from negotiator.hooks.slot_ranks import SlotRanks


@attrs.frozen(eq=False)
class ConditionTask:
    """The conditions and ranks of a cycle.

    ``jobs`` are the ad of each request, and ``copies`` how many jobs it has, (R,). ``running``: the slots that have a job, (N,); they
    are not listed for a request. ``rules`` are those that ``ranks`` were made of.
    """

    slots: Table
    rules: SlotRanks
    requirements: Requirements
    ranks: Ranks
    constraints: Sequence[BoundConstraint]
    cycle: Cycle
    work: WorkAccounts
    jobs: Sequence[Ad]
    copies: Sequence[int]
    running: Mask

    @classmethod
    def of(cls, task: MatchingTask) -> Self:
        """Return the part of a task that workers evaluate."""
        matcher, requests = task.matcher, [each.request for each in task.requests]
        return cls(
            slots=matcher.slots,
            rules=task.bundle.ordering.ranks,
            requirements=matcher.requirements,
            ranks=matcher.ranks,
            constraints=task.bundle.constraints,
            cycle=task.cycle,
            work=task.work,
            jobs=[each.ad for each in requests],
            copies=[len(each.applications) for each in requests],
            running=matcher.running,
        )
