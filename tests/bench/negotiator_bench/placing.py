"""Placement of applications, as YuniKorn's own benchmarks have it, and the change of a configuration.

Two chains of rules: a tag rule below a fixed one, with 100 queues; and three rules, one with a group regular expression.
100,000 applications of 1,000 users. What is measured is what YuniKorn measures: from applications in memory to queues,
with filters, access and the creation of queues. The whole station of the cycle does more: it distinguishes applications that
were placed before from new ones, by schedd, user and cluster.
"""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import numpy as np

from negotiator.bundle import load_bundle
from negotiator.bundle.model import Bundle
from negotiator.classad import Ad, Table
from negotiator.cycle.applications import applications
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.place import place_idle
from negotiator.cycle.placement_pass import PlacementPass
from negotiator.hooks.records import Cycle
from negotiator.queues import QueueTree
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan

EACH: Final = SpeedTarget("ours", at_most=0.3)
DISTINCT: Final = SpeedTarget("ours", at_most=30)
SWAP: Final = SpeedTarget("ours", at_most=1)

USERS: Final = 1_000
QUEUES: Final = 100
_NOW: Final = 1_700_000_000.0

_POOL: Final = "placement:\n  groups: MY.Groups\n"
_TAG_BELOW_FIXED: Final = f"""
partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - name: namespaces
      queues: [{", ".join(f"{{name: queue{number}}}" for number in range(QUEUES))}]
  placementrules:
  - name: tag
    value: namespace
    parent: {{name: fixed, value: root.namespaces}}
"""
_THREE_RULES: Final = """
partitions:
- name: default
  queues:
  - name: root
    submitacl: "*"
    queues:
    - {name: users, parent: true}
    - name: default
  placementrules:
  - name: provided
  - name: user
    create: true
    filter: {type: allow, groups: ["^dev[0-4]$"]}
    parent: {name: fixed, value: root.users}
  - name: fixed
    value: root.default
"""
CHAINS: Final = {
    "tag below fixed": _TAG_BELOW_FIXED,
    "three rules": _THREE_RULES,
}


def measure(plan: Plan) -> Measured:
    """Measure microseconds an application, all and alike ones together, and seconds for another configuration."""
    jobs = Table.from_ads(_jobs(plan.applications))
    figures = [figure for name, text in CHAINS.items() for figure in _chain(name, text, jobs, plan)]
    return Measured((*figures, _swap(plan)))


def _jobs(count: int) -> Iterator[Ad]:
    for number in range(count):
        user = number % USERS
        yield Ad(
            [
                ("GlobalJobId", f"schedd@host#{number}.0#1700000000"),
                ("ClusterId", number),
                ("ProcId", 0),
                ("JobStatus", 1),
                ("Owner", f"user{user}"),
                ("Groups", f"user{user},dev{user % 10}"),
                ("namespace", f"queue{user % QUEUES}"),
            ]
        )


def _chain(name: str, text: str, jobs: Table, plan: Plan) -> Iterator[Figure]:
    with _bundle(text) as bundle:
        cycle = Cycle(1, _NOW, bundle.digest)
        placed = place_idle(
            jobs, bundle, cycle, CycleState.new(bundle, _NOW)
        )  # columns are made at their first use
        distinct, rows = len(placed.placements), np.arange(len(jobs))

        def only_placing() -> None:
            state = CycleState.new(bundle, _NOW)
            found = applications(jobs, bundle, cycle.environment)
            PlacementPass.of(bundle, cycle, state).place_new(jobs, found, rows, found.kinds)

        def whole_station() -> None:
            place_idle(jobs, bundle, cycle, CycleState.new(bundle, _NOW))

        seconds = tuple(_seconds(only_placing) for _ in range(plan.repetitions))
        whole = tuple(_seconds(whole_station) for _ in range(plan.repetitions))
    facts = {"applications": len(jobs), "users": USERS, "distinct": distinct, "queues": len(placed.jobs)}
    each = tuple(value / len(jobs) * 1e6 for value in seconds)
    alike = tuple(value / distinct * 1e6 for value in seconds)
    all_of_it = tuple(value / len(jobs) * 1e6 for value in whole)
    judged = plan.judged
    yield Figure(
        Area.PLACING, f"{name}: an application", "us", each, target=EACH if judged else None, facts=facts
    )
    yield Figure(
        Area.PLACING, f"{name}: a distinct one", "us", alike, target=DISTINCT if judged else None, facts=facts
    )
    yield Figure(Area.PLACING, f"{name}: the whole station", "us", all_of_it, facts=facts)


def _swap(plan: Plan) -> Figure:
    """Read, check and swap a configuration of so many queues."""
    text = configuration(plan.queues)
    with _bundle(text) as bundle:
        tree = QueueTree.of(bundle.partition.root, _NOW)

        def swap() -> None:
            tree.mutable().apply(load_bundle(bundle.folder).partition.root, _NOW)

        seconds = tuple(_seconds(swap) for _ in range(plan.repetitions))
    what = f"{plan.queues:,} queues: read, check, swap"
    facts = {"queues": len(tree), "bytes": len(text)}
    return Figure(Area.SWAPPING, what, "s", seconds, target=SWAP if plan.judged else None, facts=facts)


def configuration(queues: int) -> str:
    """A file with so many leaves, each with amounts, lists and a limit, ten below each parent."""
    lines = [
        "partitions:",
        "- name: default",
        "  queues:",
        "  - name: root",
        "    submitacl: '*'",
        "    queues:",
    ]
    for number in range(max(1, queues // 10)):
        lines += [f"    - name: parent{number}", "      resources:", "        max: {memory: 10T, vcore: 1k}"]
        lines += ["      queues:"]
        for leaf in range(10):
            lines += [
                f"      - name: leaf{leaf}",
                f"        submitacl: 'user{leaf},user{number} group{leaf}'",
                "        maxapplications: 100",
                "        resources:",
                "          guaranteed: {memory: 100G, vcore: 10}",
                "          max: {memory: 1T, vcore: 100}",
                "        limits:",
                "        - {limit: users, users: ['*'], maxapplications: 10, maxresources: {memory: 100G}}",
            ]
    rules = ["  placementrules:", "  - name: provided", "  - {name: fixed, value: root.parent0.leaf0}"]
    return "\n".join((*lines, *rules, ""))


@contextmanager
def _bundle(queues: str) -> Iterator[Bundle]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pool.yaml").write_text(_POOL, encoding="utf-8")
        Path(folder, "queues.yaml").write_text(queues, encoding="utf-8")
        yield load_bundle(Path(folder))


def _seconds(function: Callable[[], None]) -> float:
    gc.collect()
    start = clock()
    function()
    return clock() - start
