"""``make bench-curve``: how the time of a whole cycle grows with slots and job classes, as a table and a picture."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

import attrs
import click

from negotiator.cli.render import print_table, printable
from negotiator_bench.command import NOT_MEASURED
from negotiator_bench.cycles import FEW_JOBS, cold_cycle
from negotiator_bench.errors import BenchError
from negotiator_bench.growth import exponent
from negotiator_bench.inputs import SLOTS
from negotiator_bench.machine import one_core, this_machine
from negotiator_bench.options import numbers
from negotiator_bench.picture import Line, draw


@attrs.frozen
class Point:
    """The processor seconds of a cycle with cold caches, the median of some."""

    slots: int
    classes: int
    seconds: float
    matches: int


def measure_point(kind: str, slots: int, classes: int, repetitions: int) -> Point:
    """Measure one size."""
    measured = [cold_cycle(kind, slots, classes, FEW_JOBS) for _ in range(repetitions)]
    return Point(slots, classes, median(seconds for seconds, _ in measured), measured[0][1])


def lines_of(points: Iterable[Point]) -> list[Line]:
    """Return a line for each number of classes, with its exponent if it has two points."""
    lines = []
    for classes, group in itertools.groupby(
        sorted(points, key=lambda point: (point.classes, point.slots)), lambda point: point.classes
    ):
        found = [(point.slots, point.seconds) for point in group]
        power = f", slots^{exponent(*zip(*found, strict=True)):.2f}" if len(found) > 1 else ""
        lines.append(Line(f"{classes:,} classes{power}", tuple(found)))
    return lines


@click.command(short_help="Measure how a cycle grows with slots and classes.")
@click.option("--kind", default="plain", type=click.Choice([*SLOTS]), help="Of slots.", show_default=True)
@click.option("--slots", default="1000,5000,20000,100000", callback=numbers, help="Numbers of slots.")
@click.option(
    "--classes", default="100,1000,10000", callback=numbers, help="Numbers of job classes, two jobs each."
)
@click.option("--repetitions", default=1, type=click.IntRange(1), help="Of each size.", show_default=True)
@click.option("--picture", type=click.Path(path_type=Path), help="Write a picture (SVG) to this file.")
def curve(
    kind: str, slots: tuple[int, ...], classes: tuple[int, ...], repetitions: int, picture: Path | None
) -> None:
    """Measure whole cycles (run_cycle under the default bundle, cold caches, one core) and fit exponents.

    \b
    Exit codes:
      0  measured
      2  the command line is wrong
      4  something could not be measured
    """
    points = []
    try:
        with one_core() as pinned:
            for size, count in itertools.product(slots, classes):
                points.append(measure_point(kind, size, count, repetitions))
                print_progress(points[-1])
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    machine = this_machine(one_core=pinned)
    click.echo(printable(f"{machine.implementation} {machine.python}, {machine.processor}"))
    print_points(points)
    if picture is not None:
        title = f"Processor seconds of a whole cycle over {kind} slots, two jobs of a class"
        picture.write_text(draw(title, "slots", "s", lines_of(points)), "utf-8")


def print_progress(point: Point) -> None:
    """Print a measured point to standard error."""
    if sys.stderr.isatty():
        click.echo(f"{point.slots:,} slots, {point.classes:,} classes: {point.seconds:.2f} s", err=True)


def print_points(points: Sequence[Point]) -> None:
    """Print the seconds of each size, and the exponents by slots (last row) and by classes (last column)."""
    slots, classes = (sorted({getattr(point, name) for point in points}) for name in ("slots", "classes"))
    seconds = {(point.slots, point.classes): point.seconds for point in points}
    rows = [
        (
            f"{size:,}",
            *(f"{seconds[size, count]:.2f}" for count in classes),
            _power(classes, [seconds[size, count] for count in classes]),
        )
        for size in slots
    ]
    last = [_power(slots, [seconds[size, count] for size in slots]) for count in classes]
    print_table(
        "Processor seconds of a cycle, by slots and classes; exponents of their growth",
        ("SLOTS", *(f"{count:,}" for count in classes), "EXPONENT"),
        [*rows, ("exponent", *last, "")],
        right=tuple(range(1, len(classes) + 2)),
    )


def _power(sizes: Sequence[float], seconds: Sequence[float]) -> str:
    return f"{exponent(sizes, seconds):.2f}" if len(sizes) > 1 else ""


if __name__ == "__main__":
    curve(prog_name="python -m negotiator_bench.curve")
