"""The gates of plugins over the ads of one kind."""

from __future__ import annotations

from collections.abc import Iterator

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.admission_filter import AdmissionFilter
from negotiator.cycle.reasons import failure_reason, plugin_reason
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import Attributed
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle, Gate
from negotiator.records import Mode, Reason, Station


@attrs.frozen(eq=False)
class AppliedGates:
    """The gates of plugins over a table of ads, in their order, and the plugins that failed."""

    gates: tuple[Attributed[Gate], ...] = ()
    failures: tuple[HookFailure, ...] = ()

    @classmethod
    def of(cls, kind: AdKind, ads: Table, bundle: Bundle, cycle: Cycle) -> AppliedGates:
        """Ask the plugins."""
        answers = bundle.hooks.ask(
            specs.negotiator_gate_ads, kind=kind, ads=ads, cycle=cycle, settings=bundle.settings
        )
        return cls(answers.records, answers.failures)

    @property
    def tests(self) -> bool:
        """True if there are gates, or some that failed."""
        return bool(self.gates or self.failures)

    def reasons(self) -> Iterator[tuple[Gate, Reason]]:
        """Yield each gate with the reason of what it discards."""
        for attributed in self.gates:
            yield attributed.record, plugin_reason(Station.ADMIT, attributed)


def apply_gates(ads: AdmissionFilter, bundle: Bundle, cycle: Cycle) -> AppliedGates:
    """Discard what the gates of plugins discard; a gate that fails discards every ad of its kind."""
    applied = AppliedGates.of(ads.kind, ads.table, bundle, cycle)
    for gate, reason in applied.reasons():
        ads.discard(gate.discard, reason)
        if gate.outside and gate.mode is Mode.ENFORCE:
            ads.outside |= gate.discard
    for failure in applied.failures:
        ads.discard(np.ones(len(ads.table), np.bool_), failure_reason(Station.ADMIT, failure))
    return applied
