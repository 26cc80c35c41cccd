"""Use case: the last cycles of the negotiator of a state."""

from __future__ import annotations

from pathlib import Path

from negotiator.runtime.cycle_history import CycleDetails as CycleDetails
from negotiator.runtime.cycle_history import CycleEntry as CycleEntry
from negotiator.runtime.cycle_history import CycleHistory as CycleHistory
from negotiator.runtime.cycle_history import HolderShare as HolderShare
from negotiator.runtime.cycle_history import PluginUse as PluginUse
from negotiator.runtime.cycle_history import RuleActivity as RuleActivity
from negotiator.runtime.cycle_history import RuleEffect as RuleEffect
from negotiator.runtime.cycle_history import read_history


def last_cycles(state: Path) -> CycleHistory:
    """Return the last cycles of the negotiator of a state, and the details of the last one; none before the first.

    :raises StateError: they cannot be read.
    """
    return read_history(state)
