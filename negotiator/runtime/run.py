"""Run cycles: snapshot, decide, record the intent, settle, record the outcome.

Nothing is handed out before its record is on disk. A cycle whose records cannot be written hands out no match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from negotiator.audit.errors import AuditError
from negotiator.audit.log import AuditLog
from negotiator.audit.records import intent_records, outcome_records
from negotiator.bundle.model import Bundle
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Match
from negotiator.pool.snapshot import Snapshot
from negotiator.runtime.handed_out import HandedOut
from negotiator.runtime.settle import Delivery, Settler


class OutcomeLostError(AuditError):
    """Matches were handed out, and the audit log does not say which: it holds their intent only."""


@attrs.frozen
class CycleReport:
    """A cycle that ran to its end: what was decided, what became of it, and where the audit log stands."""

    snapshot: Snapshot
    result: CycleResult
    deliveries: tuple[Delivery, ...]
    observers: tuple[HookFailure, ...]  # observers that failed; the cycle is none the worse for it
    head: str  # "seq:hash" of the last audit record, empty without a log


@attrs.define
class Runtime:
    """What a cycle needs of the outside world.

    ``read`` gives the pool as it is now, ``clock`` the time in seconds since the epoch.
    """

    bundle: Bundle
    read: Callable[[], Snapshot]
    clock: Callable[[], float]
    settler: Settler
    audit: AuditLog | None
    handed_out: HandedOut = attrs.field(factory=HandedOut)
    _cycles: int = 0

    def cycles(self, count: int) -> Iterator[CycleReport]:
        """Run so many cycles, one after the other; raises ``AuditError`` where one could not be recorded."""
        for _ in range(count):
            yield self.cycle(self._number())

    def cycle(self, number: int) -> CycleReport:
        """Run one cycle.

        :raises AuditError: its intent could not be recorded, and nothing was handed out.
        :raises OutcomeLostError: its outcome could not be recorded: matches were handed out, and the audit log holds
            the intent only.
        """
        snapshot = self.read()
        cycle = Cycle(number, self.clock(), self.bundle.digest)
        result = run_cycle(self.handed_out.without(snapshot), self.bundle, cycle)
        self._record(intent_records(result, self.bundle.audit))
        deliveries = tuple(self.settler.settle(result.matches))
        delivered = [item.match for item in deliveries if item.delivered]
        failed = {item.match.id: item.text for item in deliveries if not item.delivered}
        self.handed_out.add(delivered)
        self._record_outcome(result, delivered, failed)
        observers = self.bundle.hooks.matches_made(delivered, cycle, self.bundle.settings)
        self.bundle.hooks.end_cycle()
        head = self.audit.head if self.audit else ""
        return CycleReport(snapshot, result, deliveries, observers, head)

    def _number(self) -> int:
        """A number that no earlier cycle in the audit log has, so that the ids of matches are unique in it."""
        written = int(self.audit.head.partition(":")[0]) if self.audit else self._cycles
        self._cycles += 1
        return written + 1

    def _record_outcome(
        self, result: CycleResult, delivered: Sequence[Match], failed: Mapping[str, str]
    ) -> None:
        try:
            self._record(outcome_records(result, [match.id for match in delivered], failed))
        except AuditError as error:
            raise OutcomeLostError(
                f"{error}: the outcome of cycle {result.number} is not recorded; handed out were: "
                f"{', '.join(match.id for match in delivered) or 'none'}"
            ) from error

    def _record(self, records: Sequence[dict[str, object]]) -> None:
        if self.audit:
            self.audit.append(records)
            self.audit.sync()
