"""``make bench-large``: one cycle of a large pool under fair share, limits and a quota for each host, from files to the audit log."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs
import click

from negotiator.cli.render import print_table, printable
from negotiator_bench import ours
from negotiator_bench.command import NOT_MEASURED
from negotiator_bench.errors import BenchError
from negotiator_bench.figures import SpeedTarget
from negotiator_bench.inputs import SLOTS
from negotiator_bench.machine import one_core, this_machine
from negotiator_bench.production import OurCycle, Production, measure_cycles
from negotiator_bench.requests import request_texts
from negotiator_bench.slots import texts

#: For 100,000 mixed slots and 1,000,000 job ads of 10,000 classes and 1,000 submitters: seconds beside reading, and GB.
SECONDS: Final = SpeedTarget("ours", at_most=15)
MEMORY: Final = SpeedTarget("ours", at_most=4)

_SCHEDD: Final = "s.example.org"
_OF_JOB: Final = ("Owner ", "User ", "AccountingGroup ", "ClusterId ", "ProcId ", "GlobalJobId ", "_condor_")
_BLOCK: Final = 1 << 20
_POOL: Final = """\
order: submitters
accounting: {trust_names: true}
NEGOTIATOR_MAX_TIME_PER_CYCLE: 1000000
NEGOTIATOR_MAX_TIME_PER_PIESPIN: 1000000
NEGOTIATOR_MAX_TIME_PER_SCHEDD: 1000000
NEGOTIATOR_MAX_TIME_PER_SUBMITTER: 1000000
"""
_QUEUES: Final = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits:
          - limit: each user
            users: ["*"]
            maxresources: {vcore: 1000}
        queues:
          - name: default
    placementrules:
      - name: fixed
        value: root.default
"""
_QUOTAS: Final = "{\n   name per_host\n   limit users {*} hosts {*} to slots=4\n}\n"


#: Fair share, a limit of processors for each user, a quota of slots for each user on each host, and no time limits.
LARGE_BUNDLE: Final = {"pool.yaml": _POOL, "queues.yaml": _QUEUES, "quotas.rqs": _QUOTAS}


@attrs.frozen
class LargePool:
    """Numbers of slots, of job ads, and of the classes and submitters that they are of.

    ``bundle`` has the files of the bundle. The job classes request ``queues`` in turn; empty: none.
    """

    kind: str
    slots: int
    jobs: int
    classes: int
    submitters: int
    bundle: Mapping[str, str] = attrs.field(factory=lambda: LARGE_BUNDLE, repr=False)
    queues: tuple[str, ...] = ()

    def write(self, folder: Path) -> Production:
        """Write the ads and the bundle to a folder, and return how a cycle over them is run."""
        bundle = folder / "bundle"
        bundle.mkdir()
        for name, text in self.bundle.items():
            (bundle / name).write_text(text, "utf-8")
        ads = {
            "slots.ads": texts(SLOTS[self.kind], range(self.slots)),
            "submitters.ads": map(self._submitter_ad, range(self.submitters)),
            "jobs.ads": self._job_ads(),
        }
        for name, blocks in ads.items():
            with (folder / name).open("w", encoding="utf-8", buffering=_BLOCK) as file:
                file.writelines(blocks)
        return Production(tuple(str(folder / name) for name in ads), ours.CYCLE.now, 1, str(bundle))

    def _submitter_ad(self, number: int) -> str:
        idle = self.jobs // self.submitters
        return (
            f'MyType = "Submitter"\nName = "u{number}@example.org"\nScheddName = "{_SCHEDD}"\n'
            f"IdleJobs = {idle}\nRunningJobs = 0\n\n"
        )

    def _job_ads(self) -> Iterator[str]:
        for cluster, text in enumerate(request_texts(self.classes, 1), 1):
            user = f"u{cluster % self.submitters}"
            lines = [line for line in text.splitlines() if line and not line.startswith(_OF_JOB)]
            lines += [
                f'Owner = "{user}"',
                f'User = "{user}@example.org"',
                "JobStatus = 1",
                f"ClusterId = {cluster}",
            ]
            if self.queues:
                lines.append(f'Queue = "{self.queues[cluster % len(self.queues)]}"')
            shared = "\n".join(lines)
            for proc in range(self.jobs // self.classes):
                yield f'{shared}\nProcId = {proc}\nGlobalJobId = "{_SCHEDD}#{cluster}.{proc}#1"\n\n'


@click.command(short_help="Measure one cycle of a large pool.")
@click.option("--kind", default="mixed", type=click.Choice([*SLOTS]), help="Of slots.", show_default=True)
@click.option("--slots", default=100_000, type=click.IntRange(1), show_default=True)
@click.option("--jobs", default=1_000_000, type=click.IntRange(1), help="Job ads.", show_default=True)
@click.option("--classes", default=10_000, type=click.IntRange(1), help="Of alike jobs.", show_default=True)
@click.option("--submitters", default=1_000, type=click.IntRange(1), show_default=True)
def large(kind: str, slots: int, jobs: int, classes: int, submitters: int) -> None:
    """Measure one cycle of negotiator run over files, in a process of its own, on one core.

    Its bundle has fair share, a limit of processors for each user, a quota of slots for each user on each host, and no time limits.
    The default sizes take five minutes, 4 GB of memory and 3 GB of the temporary folder.

    \b
    Exit codes:
      0  measured
      2  the command line is wrong
      4  something could not be measured
    """
    pool = LargePool(kind, slots, jobs, classes, submitters)
    try:
        with one_core() as pinned, tempfile.TemporaryDirectory() as name:
            (cycle,) = measure_cycles(pool.write(Path(name)))
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    machine = this_machine(one_core=pinned)
    click.echo(printable(f"{machine.implementation} {machine.python}, {machine.processor}"))
    print_table(
        f"One cycle: {slots:,} {kind} slots, {jobs:,} job ads, {classes:,} classes, {submitters:,} submitters",
        ("MEASURED", "VALUE", "TARGET"),
        _rows(cycle, judged=pool == _JUDGED),
        right=(1,),
    )


_JUDGED: Final = LargePool("mixed", 100_000, 1_000_000, 10_000, 1_000)


def _rows(cycle: OurCycle, *, judged: bool) -> list[tuple[str, str, str]]:
    def target(bound: SpeedTarget, value: float, unit: str) -> str:
        return f"{bound.at_most:g} {unit}, {'met' if bound.met_by(value) else 'missed'}" if judged else ""

    return [
        ("reading", f"{cycle.read:.1f} s", ""),
        ("the cycle beside it", f"{cycle.cycle:.1f} s", target(SECONDS, cycle.cycle, "s")),
        ("memory at most", f"{cycle.peak:.2f} GB", target(MEMORY, cycle.peak, "GB")),
        ("matches", f"{cycle.matches:,}", ""),
    ]


if __name__ == "__main__":
    large(prog_name="python -m negotiator_bench.large")
