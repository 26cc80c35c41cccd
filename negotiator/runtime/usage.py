"""Current usage of a pool: the ledger as a cycle would build it, and usage by queue, without running a cycle."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.bundle.model import Bundle
from negotiator.cycle.admit import AdmissionFilter, apply_gates
from negotiator.cycle.claim_requests import claim_requests, queue_usage
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.place import place
from negotiator.cycle.recount import recount
from negotiator.cycle.work_accounts import WorkAccounts
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.charges import CounterKey, CounterUsage
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.ledger import Ledger
from negotiator.pool.snapshot import Snapshot
from negotiator.queues import QueueTree
from negotiator.queues.applications import ApplicationRegistry
from negotiator.queues.model import QueueUsage
from negotiator.records import Mode


@attrs.frozen(eq=False)
class PoolUsage:
    """The ledger of a pool, and the queues and applications that it was built with."""

    ledger: Ledger
    queues: QueueTree
    registry: ApplicationRegistry
    failures: tuple[HookFailure, ...]

    def of(self, plugin: str) -> CounterUsage:
        """Return the values of one plugin's counters; of a counter of both kinds, the value of the enforcing one."""
        sums: dict[CounterKey, int] = {}
        sets: dict[CounterKey, Mapping[str, int]] = {}
        for mode in (Mode.WARN, Mode.ENFORCE):
            counters = self.ledger.counters(mode)
            sums |= {key[1:]: amount for key, amount in counters if key[0] == plugin}
            sets |= {key[1:]: members for key, members in counters.key_sets() if key[0] == plugin}
        groups = {(entry.id.user, str(entry.id)): entry.group for entry in self.registry}
        return CounterUsage(sums, sets, groups)


def pool_usage(snapshot: Snapshot, bundle: Bundle, state: CycleState, now: float) -> PoolUsage:
    """Charge the running jobs of a pool, and the matches not yet visible in its ads."""
    work = WorkAccounts.of(snapshot.slots, snapshot.jobs)
    cycle = work.for_ads(Cycle(1, now, bundle.digest), AdKind.JOB)
    placed = place(snapshot, None, bundle, cycle, state)
    slots = AdmissionFilter.of(AdKind.STARTD, snapshot.slots)
    of_gates = apply_gates(slots, bundle, work.for_ads(cycle, AdKind.STARTD)).failures
    in_use = recount(placed, snapshot.slots, bundle, cycle, work, outside=slots.outside)
    failures = dict.fromkeys((*of_gates, *placed.failures, *in_use.uncertain.values()))
    return PoolUsage(in_use.ledger, placed.state.queues, placed.state.registry, tuple(failures))


@attrs.frozen(eq=False)
class UsageByQueue:
    """The usage of each queue, and the queues, including those that rules create for running jobs."""

    usage: Mapping[str, QueueUsage]
    queues: QueueTree
    failures: tuple[HookFailure, ...]


def usage_by_queue(snapshot: Snapshot, bundle: Bundle, state: CycleState, now: float) -> UsageByQueue:
    """Sum by queue the usage of running jobs of a pool, and of matches not yet visible in its ads. Plugins are not called for charges."""
    cycle = Cycle(1, now, bundle.digest)
    placed = place(snapshot, None, bundle, cycle, state)
    claims = claim_requests(placed, snapshot.slots, bundle, cycle)
    return UsageByQueue(queue_usage(claims), placed.state.queues, placed.failures)
