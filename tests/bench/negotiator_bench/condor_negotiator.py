"""``make bench-peer``: cycles of the real condor_negotiator and ours over the same ads, phase by phase."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import attrs
import click

from negotiator.cli.render import print_table, printable
from negotiator_bench.command import DISAGREE, NOT_MEASURED
from negotiator_bench.errors import BenchError
from negotiator_bench.options import numbers
from negotiator_bench.production import OurCycle, Production, measure_cycles
from negotiator_bench.real_pool import PORT, RealCycle, RealPool, real_pool

MODES: Final = ("reject", "match")
REPETITIONS: Final = 3


@attrs.frozen
class Comparison:
    """One size: a cycle of the real negotiator, and the first and the second one of each process of ours."""

    slots: int
    classes: int
    mode: str
    real: RealCycle
    ours: tuple[tuple[OurCycle, ...], ...]

    @property
    def agrees(self) -> bool:
        """True if each cycle of ours made as many matches as the real negotiator."""
        return all(cycle.matches == self.real.matches for pair in self.ours for cycle in pair)

    def median_of(self, cycle: int) -> OurCycle:
        """Return the medians of ours: of the first cycles (0) or the second ones (1)."""
        pairs = [pair[cycle] for pair in self.ours]
        read, cycles, peaks = zip(*((each.read, each.cycle, each.peak) for each in pairs), strict=True)
        return OurCycle(median(read), median(cycles), pairs[0].matches, max(peaks))


def compare(pool: RealPool, slots: int, classes: int, mode: str) -> Comparison:
    """Let both negotiate one size; the jobs are removed afterwards."""
    begun = time.time()
    pool.submit_classes(classes, fits=mode == "match")
    try:
        real = pool.cycle_since(begun)
        with tempfile.TemporaryDirectory() as name:
            pool.write_ads(Path(name))
            files = tuple(str(path) for path in sorted(Path(name).iterdir()))
            ours = tuple(measure_cycles(Production(files, time.time())) for _ in range(REPETITIONS))
    finally:
        pool.remove_jobs()
    return Comparison(slots, classes, mode, real, ours)


def _modes(_context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
    found = tuple(value.split(","))
    if not set(found) <= set(MODES):
        raise click.BadParameter(f"{value!r}: write {' or '.join(MODES)}, or both", param=parameter)
    return found


@click.command(short_help="Measure cycles beside the real condor_negotiator.")
@click.option("--slots", default="1000,5000", callback=numbers, help="Numbers of slots.")
@click.option("--classes", default="100", callback=numbers, help="Numbers of job classes, two jobs each.")
@click.option("--modes", default="reject,match", callback=_modes, help="Whether jobs fit: reject, match.")
@click.option("--port", default=PORT, help="Of the collector, on 127.0.0.1.", show_default=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line, with every single value."
)
def compare_cycles(
    slots: tuple[int, ...], classes: tuple[int, ...], modes: tuple[str, ...], port: int, *, as_json: bool
) -> None:
    """Run the real condor_negotiator over made slots, and ours over the very ads that its collector and schedd have.

    All figures are seconds of the processor: those of the phases of condor_negotiator are in its Negotiator ad. Ours are
    medians of three processes, each with two cycles of negotiator run over files, from the same state, with
    the audit log and the state on disk.

    \b
    Exit codes:
      0  measured
      2  the command line is wrong
      3  the numbers of matches differ
      4  something is missing (root, HTCondor), or could not be measured
    """
    agree = True
    try:
        with real_pool(port=port) as pool:
            if not as_json:
                click.echo(f"condor_negotiator {pool.version()} and ours, seconds of the processor\n")
            for each in _comparisons(pool, slots, classes, modes):
                agree = agree and each.agrees
                if as_json:
                    click.echo(json.dumps(attrs.asdict(each), sort_keys=True))
                else:
                    print_comparison(each)
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    if not agree:
        click.echo("error: the numbers of matches differ: the figures mean nothing", err=True)
        sys.exit(DISAGREE)


def _comparisons(
    pool: RealPool, slots: tuple[int, ...], classes: tuple[int, ...], modes: tuple[str, ...]
) -> Iterator[Comparison]:
    for size in slots:
        pool.advertise(size)
        for mode in modes:
            for count in classes:
                yield compare(pool, size, count, mode)


def print_comparison(found: Comparison) -> None:
    """Print both phases beside each other, with how many times as long the real one takes."""
    real, first, second = found.real, found.median_of(0), found.median_of(1)
    rows = [
        ("fetch; reading", real.fetch, first.read, second.read),
        ("sort, negotiate; cycle, records", real.sort + real.negotiate, first.cycle, second.cycle),
        ("whole", real.whole, first.whole, second.whole),
    ]
    print_table(
        f"{found.slots:,} slots, {found.classes:,} classes, {found.mode}: {real.matches} matches,"
        f" ours {first.matches}",
        ("PHASE", "REAL", "FIRST", "", "SECOND", ""),
        [
            (
                name,
                f"{theirs:.3f}",
                f"{one:.3f}",
                f"{theirs / one:.1f}x",
                f"{two:.3f}",
                f"{theirs / two:.1f}x",
            )
            for name, theirs, one, two in rows
        ],
        right=(1, 2, 3, 4, 5),
    )


if __name__ == "__main__":
    compare_cycles(prog_name="python -m negotiator_bench.condor_negotiator")
