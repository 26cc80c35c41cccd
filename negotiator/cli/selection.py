"""The part of a cycle that ``negotiator run`` prints: all of it, a user's, a queue's or that of one job."""

from __future__ import annotations

import attrs

from negotiator.app.cycle_report import CycleResult, RequestOutcome
from negotiator.hooks.records import Match, Request


@attrs.frozen(kw_only=True)
class Selection:
    """What to print of a cycle; empty texts select everything.

    ``full`` prints every match and all reasons. ``user`` is an owner or a submitter, with or without its domain; ``queue``
    is a queue and all below it; ``job`` is a job (``12.7``) or all jobs of a cluster (``12``).
    """

    full: bool = False
    user: str = ""
    queue: str = ""
    job: str = ""

    @property
    def is_part(self) -> bool:
        """True if anything is left out."""
        return bool(self.user or self.queue or self.job)

    @property
    def is_detailed(self) -> bool:
        """True if each match and each reason is printed, instead of a summary."""
        return self.full or self.is_part

    def matches(self, result: CycleResult) -> tuple[Match, ...]:
        """Return the selected matches of a cycle."""
        found = (match for each in result.outcomes if self._selects(each.request) for match in each.matches)
        if not self.job:
            return tuple(found)
        return tuple(match for match in found if self.job in {match.job, match.job.partition(".")[0]})

    def unmatched(self, result: CycleResult) -> tuple[RequestOutcome, ...]:
        """Return the selected requests with jobs that got no slot."""
        return tuple(
            each
            for each in result.outcomes
            if each.unmatched
            and self._selects(each.request)
            and (not self.job or each.jobs_left.has(self.job))
        )

    def _selects(self, request: Request) -> bool:
        submitter, queue, wanted = request.submitter.lower(), request.queue.lower(), self.queue.lower()
        names = {request.user.lower(), submitter, submitter.rpartition("@")[0]}
        if self.user and self.user.lower() not in names:
            return False
        return not wanted or f"{queue}.".startswith(f"{wanted}.")
