"""Made resource requests of a schedd: ads without status that stand for several alike jobs each."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.classad import Table
from negotiator.pool.snapshot import Snapshot
from negotiator_bench import ours
from negotiator_bench.inputs import SLOTS
from negotiator_bench.jobs import CLASSES, job_class
from negotiator_bench.slots import texts


def request_texts(classes: int, jobs: int) -> Iterator[str]:
    """Make requests for so many jobs of each class, in long form with a blank line after each; no two are alike."""
    return (request_text(number, jobs) for number in range(classes))


def request_text(number: int, jobs: int) -> str:
    """Make a request for so many jobs of a class, with a blank line after it."""
    lines = [line for line in job_class(number).splitlines() if not line.startswith("JobStatus ")]
    if number >= CLASSES:  # a few of these agree in all that they request
        lines = [line for line in lines if not line.startswith("RequestDisk ")]
        lines.append(f"RequestDisk = {1024 * (1 + number * 7919 % 100_003)}")
    return "\n".join([*lines, f"_condor_RESOURCE_COUNT = {jobs}", "\n"])


def request_snapshot(kind: str, slots: int, classes: int, jobs: int) -> Snapshot:
    """Read a pool of so many slots of a kind (a name in ``SLOTS``) and the requests, with empty caches of columns."""
    empty = Table.from_ads(())
    return Snapshot(
        schedds=empty,
        submitters=empty,
        slots=ours.read(texts(SLOTS[kind], range(slots))),
        jobs=ours.read(request_texts(classes, jobs)),
    )
