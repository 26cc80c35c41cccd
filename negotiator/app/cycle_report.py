"""A completed cycle for those who print it: the records of its types, and its JSON."""

from __future__ import annotations

from typing import Any

from negotiator.audit.records import records_by_kind
from negotiator.cycle.claim_reuse import ReuseReport as ReuseReport
from negotiator.cycle.cycle_time import CycleProgress as CycleProgress
from negotiator.cycle.cycle_time import ReachedLimit as ReachedLimit
from negotiator.cycle.result import CycleResult as CycleResult
from negotiator.cycle.result import DiscardedAds as DiscardedAds
from negotiator.cycle.result import Removal as Removal
from negotiator.cycle.result import RequestOutcome as RequestOutcome
from negotiator.hooks.overruns import Overrun as Overrun
from negotiator.runtime.run import CycleReport as CycleReport
from negotiator.runtime.status_file import LastCycle as LastCycle


def cycle_values(result: CycleResult) -> dict[str, Any]:
    """Return a cycle as plain data: the fields of its audit records, by kind."""
    return records_by_kind(result)
