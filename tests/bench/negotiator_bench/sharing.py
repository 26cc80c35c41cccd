"""Whole cycles under fair share, with accounting groups, beside the same cycles without."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from negotiator.bundle import load_bundle
from negotiator.classad import Ad, Table, parse
from negotiator.cycle.loop import run_cycle
from negotiator.hooks.records import Cycle
from negotiator.pool.snapshot import Snapshot
from negotiator_bench import ours
from negotiator_bench.figures import Area, Figure, Measured, SpeedTarget
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import CLASSES, job_class
from negotiator_bench.machine import clock
from negotiator_bench.plan import Plan
from negotiator_bench.slots import texts

#: Jobs of each class.
JOBS: Final = 100
SUBMITTERS: Final = 50
GROUPS: Final = 10
_OF_SUBMITTER: Final = ("JobStatus ", "Owner ", "User ", "AccountingGroup ")
_SCHEDD: Final = "s.example.org"


def measure(size: int, plan: Plan) -> Measured:
    """Measure how many times as long a cycle over so many slots takes under fair share, with cold caches each time."""
    times: list[float] = []
    facts: dict[str, object] = {"slots": size, "submitters": SUBMITTERS, "jobs": CLASSES * JOBS}
    with tempfile.TemporaryDirectory() as name:
        by_name, shared = _bundle(Path(name) / "names", ""), _bundle(Path(name) / "shared", "submitters")
        for _ in range(plan.repetitions):
            without, facts["matches by name"] = _seconds(size, by_name)
            seconds, facts["matches"] = _seconds(size, shared)
            times.append(seconds / without)
            facts["seconds by name"], facts["seconds"] = without, seconds
    target = SpeedTarget("ours", at_most=1.2) if plan.judged else None
    what = f"{size:,} plain slots, {GROUPS} groups"
    return Measured((Figure(Area.SHARING, what, "x", tuple(times), target=target, facts=facts),))


def _seconds(size: int, folder: Path) -> tuple[float, int]:
    """Return the seconds of one cycle, and its number of matches."""
    snapshot, bundle = _snapshot(size), load_bundle(folder)
    ours.forget()
    gc.collect()
    start = clock()
    result = run_cycle(snapshot, bundle, Cycle(1, ours.CYCLE.now, bundle.digest))
    return clock() - start, len(result.matches)


def _bundle(folder: Path, order: str) -> Path:
    folder.mkdir()
    text = "accounting: {trust_names: true}\n"
    if order:
        groups = [f"g{number}" for number in range(GROUPS)]
        knobs = [f"GROUP_NAMES = {', '.join(groups)}", "GROUP_ACCEPT_SURPLUS = true"]
        knobs += [f"GROUP_QUOTA_DYNAMIC_{group} = {1 / GROUPS}" for group in groups]
        (folder / "groups.conf").write_text("\n".join(knobs))
        text += f"order: {order}\n"
    (folder / "pool.yaml").write_text(text)
    return folder


def _snapshot(size: int) -> Snapshot:
    slots = ours.read(texts(SLOTS["plain"], range(size)))
    submitters = Table.from_ads(_submitter_ad(number) for number in range(SUBMITTERS))
    return Snapshot(
        schedds=Table.from_ads(()), submitters=submitters, slots=slots, jobs=ours.read(_requests())
    )


def _submitter(number: int) -> str:
    return f"g{number % GROUPS}.u{number}@example.org"


def _submitter_ad(number: int) -> Ad:
    idle = JOBS * CLASSES // SUBMITTERS
    values = {"Name": f'"{_submitter(number)}"', "ScheddName": f'"{_SCHEDD}"', "IdleJobs": str(idle)}
    return Ad([(name, parse(text)) for name, text in (values | {"RunningJobs": "0"}).items()])


def _requests() -> Iterator[str]:
    """Yield a schedd's resource requests: ads without status that stand for so many jobs each."""
    for number in range(CLASSES):
        own = number % SUBMITTERS
        lines = [line for line in job_class(number).splitlines() if not line.startswith(_OF_SUBMITTER)]
        lines += [f'Owner = "u{own}"', f'User = "u{own}@example.org"']
        lines += [f'AccountingGroup = "{_submitter(own)}"', f"_condor_RESOURCE_COUNT = {JOBS}"]
        lines += [f'GlobalJobId = "{_SCHEDD}#{number + 1}.0#1"']
        yield "\n".join([*(line for line in lines if line), "\n"])
