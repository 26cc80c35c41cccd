"""Memory: the growth of a fresh process, by its resident set, per ad.

That counts everything: arrays, dictionaries, caches, and what the allocator keeps. It is taken once, since it hardly
varies. Ours has two figures: the table as read, and after all job classes were matched with it, when its columns are
built.
"""

from __future__ import annotations

from typing import Final

from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.jobs import CLASSES
from negotiator_bench.plan import Plan
from negotiator_bench.wide import ATTRIBUTES
from negotiator_bench.worker_client import Worker

TARGET: Final = SpeedTarget("ours", at_most=3000)


def measure(plan: Plan, *, library: bool) -> Measured:
    """Measure bytes per ad; nothing if the system does not provide the size of a process."""
    with Worker() as process:
        ours = process.ask("table_memory", count=plan.memory)
    if ours["read"] is None:
        return Measured(())
    theirs: tuple[float, ...] = ()
    if library:
        with Worker() as process:
            theirs = (process.ask("memory", count=plan.library_memory),)
    facts = {"ads": plan.memory, "library_ads": plan.library_memory, "attributes": ATTRIBUTES}
    target = TARGET if plan.judged else None
    figures = (
        Figure(Area.MEMORY, "a table as read", "bytes/ad", (ours["read"],), theirs, target, facts),
        Figure(
            Area.MEMORY,
            f"after matching {CLASSES} classes",
            "bytes/ad",
            (ours["matched"],),
            theirs,
            None,
            facts,
        ),
    )
    return Measured(figures)
