"""What is used of the limits now: the ledger of a pool as a cycle would build it, without running one."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.bundle.model import Bundle
from negotiator.cycle.claims import claimed_jobs
from negotiator.cycle.place import place_running
from negotiator.cycle.standing import Standing
from negotiator.cycle.usage import build_ledger, running
from negotiator.hooks.charges import CounterKey, Used
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.ledger import Ledger
from negotiator.pool.snapshot import Snapshot
from negotiator.queues import QueueTree
from negotiator.queues.register import Register


@attrs.frozen(eq=False)
class InUse:
    """The ledger, and the queues and applications that it was built with."""

    ledger: Ledger
    queues: QueueTree
    register: Register
    failures: tuple[HookFailure, ...]

    def of(self, plugin: str) -> Used:
        """What is counted on the counters of one plugin."""
        counters = self.ledger.counters()
        sums: Mapping[CounterKey, int] = {key[1:]: amount for key, amount in counters if key[0] == plugin}
        sets = {key[1:]: members for key, members in counters.key_sets() if key[0] == plugin}
        groups = {(entry.id.user, str(entry.id)): entry.group for entry in self.register}
        return Used(sums, sets, groups)


def in_use(snapshot: Snapshot, bundle: Bundle, standing: Standing, now: float) -> InUse:
    """Count what runs in a pool, and the matches that it does not show yet."""
    cycle = Cycle(1, now, bundle.digest)
    runs = running(snapshot.jobs)
    placed = place_running(runs, bundle, cycle, standing)
    queueing = placed.queueing
    if queueing is not None:
        standing = attrs.evolve(standing, queues=queueing.queues, register=queueing.register)
    claimed = place_running(claimed_jobs(snapshot.slots, runs, bundle.resources), bundle, cycle, standing)
    queueing = claimed.queueing or queueing
    queues = queueing.queues if queueing else standing.queues
    ledger, uncertain = build_ledger((placed, claimed), snapshot.slots, standing, queues, bundle, cycle)
    return InUse(
        ledger,
        queues,
        queueing.register if queueing else standing.register,
        tuple(dict.fromkeys((*placed.failures, *claimed.failures, *uncertain.values()))),
    )
