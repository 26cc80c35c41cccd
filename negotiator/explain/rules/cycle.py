"""Runs a cycle, and counts what each rule does in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs
import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Table
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.jobs import not_served
from negotiator.cycle.loop import allocator, run_cycle
from negotiator.cycle.reasons import plugin_reason
from negotiator.cycle.result import CycleResult, RequestOutcome
from negotiator.explain.rules.counts import RuleCounts, RuleKey
from negotiator.explain.rules.overlaps import Overlaps
from negotiator.explain.rules.turns import CountedTurns, CountingOrder
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.hooks.order import OrderContext, RequestOrder
from negotiator.hooks.records import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator.records import Station


@attrs.frozen(eq=False)
class CountedRules:
    """A cycle, and what each rule of a plugin did in it."""

    result: CycleResult
    counts: dict[RuleKey, RuleCounts]


def count_rules(snapshot: Snapshot, bundle: Bundle, cycle: Cycle, state: CycleState) -> CountedRules:
    """Run a cycle, and count what each rule does; nothing is changed."""
    turns = CountedTurns()

    def order(context: OrderContext) -> RequestOrder:
        return CountingOrder(allocator(bundle, context), context, turns)

    result = run_cycle(snapshot, bundle, cycle, state, make_order=order, candidate_set=turns.candidate_set)
    counts: dict[RuleKey, RuleCounts] = {}
    parts = (*_gates(snapshot, bundle, cycle), *turns.counts(), *_warned(result.outcomes))
    for key, own in parts:
        counts.setdefault(key, RuleCounts()).add(own)
    return CountedRules(result, counts)


def _gates(snapshot: Snapshot, bundle: Bundle, cycle: Cycle) -> Iterator[tuple[RuleKey, RuleCounts]]:
    """Yield what the gates of each kind of ads discard; of jobs, only of those that schedds offer."""
    served = np.ones(len(snapshot.jobs), np.bool_)
    for mask, _ in not_served(snapshot.jobs, cycle.now):
        served &= ~mask
    tables = {**tables_by_kind(snapshot), AdKind.JOB: snapshot.jobs.take(served)}
    for kind, ads in tables.items():
        for key, (rejected, alone) in _discarded(kind, ads, bundle, cycle).counted().items():
            yield key, RuleCounts(ads=rejected, ads_alone=alone)


def _discarded(kind: AdKind, ads: Table, bundle: Bundle, cycle: Cycle) -> Overlaps:
    answers = bundle.hooks.ask(
        specs.negotiator_gate_ads, kind=kind, ads=ads, cycle=cycle, settings=bundle.settings
    )
    overlaps = Overlaps.of_rows(len(ads))
    for each in answers.records:
        overlaps.reject(RuleKey.of(plugin_reason(Station.ADMIT, each)), each.record.discard)
    return overlaps


def _warned(outcomes: Iterable[RequestOutcome]) -> Iterator[tuple[RuleKey, RuleCounts]]:
    """Yield the matches that rules would have denied if they enforced."""
    for outcome in outcomes:
        for match in outcome.matches:
            keys = {RuleKey.of(reason) for reason in match.warnings}
            for key in keys:
                yield key, RuleCounts(matches=1, matches_alone=int(len(keys) == 1))
