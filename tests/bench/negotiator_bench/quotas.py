"""Resource quota sets: what they add to a negotiation cycle, for jobs with different requests, and for many alike jobs.

Measured is what a cycle does for each request where quotas come in: the hook that filters slots, and the station *charge*,
which calls the charges hook, sorts slots, admits and charges. The figure is how much longer that takes with
the sets than without any. The real scheduler takes 0.64 s for a dispatch run of 400 hosts and 4,000 alike jobs of 40
users under ``users {*} hosts {*}``, 0.75 s with ten rules before it that are for nobody; a fifth of that is the target.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs
import numpy as np

from negotiator.bundle import Bundle, load_bundle
from negotiator.classad import Ad, Table, parse
from negotiator.cycle.charge import charge
from negotiator.cycle.charges import ClaimReceipts
from negotiator.cycle.declared_charges import DeclaredCharges
from negotiator.cycle.match import MatchCandidates, SlotMatcher
from negotiator.cycle.offered_slots import OfferedSlots
from negotiator.cycle.recount import Recount
from negotiator.hooks import specs
from negotiator.hooks.records import Cycle, Request
from negotiator.ledger import Ledger
from negotiator.queues import QueueTree
from negotiator_bench.errors import BenchError
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan

USERS: Final = 40
_SHARE: Final = "users {*} hosts {*} to slots=%d"
_NOBODYS: Final = 10
#: A fifth of what the real scheduler takes, in milliseconds.
ALONE: Final = SpeedTarget("ours", at_most=128)
BEHIND: Final = SpeedTarget("ours", at_most=150)
_LEAST: Final = 1e-3  # differences below this are noise
_TRUE: Final = parse("true")
_CYCLE: Final = Cycle(1, 1_795_000_000.0, "0" * 64)


@attrs.frozen
class Size:
    """A pool and its jobs: ``kinds`` requests of as many jobs each; each host has a slot for each of its share of jobs."""

    hosts: int
    jobs: int
    kinds: int

    @property
    def slots(self) -> int:
        """Slots of one host."""
        return -(-self.jobs // self.hosts)


def measure(plan: Plan) -> Measured:
    """Measure milliseconds for all requests."""
    figures = []
    first, *curve = (Size(*size) for size in plan.quotas)
    for rules, target in ((0, ALONE), (_NOBODYS, BEHIND)):
        what = f"{first.jobs:,} requests on {first.hosts:,} hosts" + (
            f", {rules} rules before" if rules else ""
        )
        figures.append(_figure(what, first, rules, plan, target))
    for size in curve:
        what = f"{size.jobs:,} jobs of {size.kinds:,} kinds on {size.hosts:,} hosts"
        figures.append(_figure(what, size, 0, plan, None))
    return Measured(tuple(figures))


def _figure(what: str, size: Size, rules: int, plan: Plan, target: SpeedTarget | None) -> Figure:
    slots, requests = _slots(size), _requests(size)
    most = max(2, size.slots)
    with tempfile.TemporaryDirectory() as folder:
        bare = _bundle(Path(folder) / "bare", ())
        lines = [*(f"users nobody{number} hosts {{*}} to slots=1" for number in range(rules)), _SHARE % most]
        limited = _bundle(Path(folder) / "limited", lines)
        times, matched = [], 0
        for _ in range(plan.repetitions):
            seconds, matched = _seconds((bare, limited), slots, requests)
            times.append(max(_LEAST, (seconds[1] - seconds[0]) * 1e3))
    facts = {"hosts": size.hosts, "slots": len(slots), "requests": len(requests), "matched": matched}
    return Figure(Area.QUOTAS, what, "ms", tuple(times), target=target if plan.judged else None, facts=facts)


@attrs.define(eq=False)
class _QuotaRun:
    """A cycle under one bundle, which knows nothing yet, as far as quotas come in."""

    bundle: Bundle
    slots: Table
    matcher: SlotMatcher
    declared: DeclaredCharges
    in_use: Recount = attrs.field(
        factory=lambda: Recount(Ledger(), ClaimReceipts(), {}, np.zeros(0, np.intp))
    )
    matched: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, bundle: Bundle, slots: Table) -> _QuotaRun:
        fresh = slots.take(np.arange(len(slots)))
        matcher = SlotMatcher.of(OfferedSlots(fresh), _CYCLE.environment)
        queues = QueueTree.of(bundle.partition.root, 0)
        return cls(bundle, fresh, matcher, DeclaredCharges(fresh, queues, bundle))

    def serve(self, request: Request) -> None:
        """Filter the slots for one request, charge it, and count how long that took."""
        among = ~self.matcher.taken
        found = MatchCandidates(request, among, int(np.count_nonzero(among)), (), (), ())
        bundle, start = self.bundle, clock()
        bundle.hooks.ask(
            specs.negotiator_filter_slots,
            request=request,
            slots=self.slots,
            cycle=_CYCLE,
            settings=bundle.settings,
        )
        charges = partial(self.declared.of, request, _CYCLE)
        granted = charge(request, found, self.matcher, self.in_use, charges, _CYCLE)
        self.seconds += clock() - start
        self.matcher.take(granted.rows)
        self.matched += len(granted.rows)


def _seconds(bundles: Sequence[Bundle], slots: Table, requests: Sequence[Request]) -> tuple[list[float], int]:
    """How long all requests take under each bundle, and how many jobs are matched under the last.

    The bundles take turns with each request, so that what else the machine does meets them alike.
    """
    runs = [_QuotaRun.of(bundle, slots) for bundle in bundles]
    for request in requests:
        for run in runs:
            run.serve(request)
    return [run.seconds for run in runs], runs[-1].matched


def _bundle(folder: Path, rules: Sequence[str]) -> Bundle:
    folder.mkdir()
    others = "access, condor, expressions, groups, limits, maxima"
    (folder / "pool.yaml").write_text(f"plugins:\n  disable: [{others}]\n", "utf-8")
    if rules:
        text = "\n".join(["{", "name shares", *(f"limit {rule}" for rule in rules), "}", ""])
        (folder / "shares.rqs").write_text(text, "utf-8")
    bundle = load_bundle(folder)
    if not any(plugin.name == "quotasets" for plugin in bundle.hooks.plugins):
        raise BenchError("the plugin quotasets is not installed: install the distribution anew")
    return bundle


def _slots(size: Size) -> Table:
    return Table.from_ads(
        Ad(
            [
                ("Name", f"slot{number}@host{host}"),
                ("Machine", f"host{host}"),
                ("Cpus", 1),
                ("Memory", 4096),
                ("Requirements", _TRUE),
            ]
        )
        for number in range(size.slots)
        for host in range(size.hosts)
    )


def _requests(size: Size) -> list[Request]:
    copies = size.jobs // size.kinds
    return [
        Request(
            submitter=f"user{number % USERS}@example.org",
            schedd="submit.example.org",
            ad=Ad([("RequestCpus", 1), ("RequestMemory", number), ("Requirements", _TRUE)]),
            count=copies,
            first_job=f"{number}.0",
            queue="root.default",
            user=f"user{number % USERS}",
            applications=(f"submit.example.org#{number}",) * copies,
        )
        for number in range(size.kinds)
    ]
