"""The gates of plugins over the ads of one kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.cycle.admission_filter import AdmissionFilter
from negotiator.cycle.reasons import failure_reason, plugin_reason
from negotiator.hooks import specs
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.records import Mode, Station


def apply_gates(ads: AdmissionFilter, bundle: Bundle, cycle: Cycle) -> Iterator[HookFailure]:
    """Apply the gates of plugins; a gate that fails discards every ad of its kind."""
    answers = bundle.hooks.ask(
        specs.negotiator_gate_ads, kind=ads.kind, ads=ads.table, cycle=cycle, settings=bundle.settings
    )
    for attributed in answers.records:
        gate = attributed.record
        ads.discard(gate.discard, plugin_reason(Station.ADMIT, attributed))
        if gate.outside and gate.mode is Mode.ENFORCE:
            ads.outside |= gate.discard
    for failure in answers.failures:
        all_ads = np.ones(len(ads.table), dtype=np.bool_)
        ads.discard(all_ads, failure_reason(Station.ADMIT, failure))
        yield failure
