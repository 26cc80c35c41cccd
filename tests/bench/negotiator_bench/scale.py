"""``make bench-scale``: whole cycles of the largest pools on each engine, how their time grows, and which size wants which engine."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
import click

from negotiator.classad import Table
from negotiator.cli.render import print_table, printable
from negotiator.pool.snapshot import Snapshot
from negotiator_bench import ours
from negotiator_bench.command import NOT_MEASURED
from negotiator_bench.errors import BenchError
from negotiator_bench.growth import Growth
from negotiator_bench.inputs import SLOTS
from negotiator_bench.machine import this_machine
from negotiator_bench.options import numbers
from negotiator_bench.picture import Line, draw
from negotiator_bench.requests import request_texts
from negotiator_bench.scale_cycle import JOBS, LOCAL_CLUSTER, CycleFigures, measure_cycle
from negotiator_bench.slots import texts

#: A cycle may take so many times as long as projected before it is ended.
_PATIENCE: Final = 4
#: An engine is worth its processes if a cycle takes at most this part of the time of one process.
_WORTH: Final = 0.9


@attrs.frozen
class ScalePoint:
    """A cycle over so many slots and job classes on an engine; without figures its seconds are those of the fit."""

    slots: int
    classes: int
    engine: str
    seconds: float  # by the clock
    figures: CycleFigures | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Slots and classes."""
        return self.slots, self.classes


def fits(points: Iterable[ScalePoint]) -> dict[str, Growth]:
    """Fit the measured seconds of each engine by slots and classes; engines with too few measurements are missing."""
    found = {}
    for engine, group in _by_engine(point for point in points if point.figures is not None):
        try:
            found[engine] = Growth.of([point.sizes for point in group], [point.seconds for point in group])
        except ValueError:
            continue
    return found


def best_engines(points: Iterable[ScalePoint]) -> dict[tuple[int, int], tuple[str, float]]:
    """Return for each size the engine to choose, and the seconds of one process divided by its.

    One process is chosen unless another engine saves a tenth of the time. A size without ``local`` has no answer.
    """
    by_size: dict[tuple[int, int], dict[str, float]] = {}
    for point in points:
        by_size.setdefault(point.sizes, {})[point.engine] = point.seconds
    found = {}
    for sizes, seconds in by_size.items():
        if "local" in seconds:
            engine = min(seconds, key=lambda name: (seconds[name], name))
            if seconds[engine] > _WORTH * seconds["local"]:
                engine = "local"
            found[sizes] = engine, seconds["local"] / seconds[engine]
    return found


def _by_engine(points: Iterable[ScalePoint]) -> Iterator[tuple[str, list[ScalePoint]]]:
    groups: dict[str, list[ScalePoint]] = {}
    for point in points:
        groups.setdefault(point.engine, []).append(point)
    yield from groups.items()


@attrs.define
class ScaleRun:
    """Measures sizes from the smallest on, and extrapolates those that would take more than ``limit`` seconds."""

    kind: str
    engines: tuple[str, ...]
    limit: float
    points: list[ScalePoint] = attrs.field(factory=list, init=False)

    def measure(self, slots: Sequence[int], classes: Sequence[int]) -> None:
        """Measure each size on each engine.

        :raises BenchError: a cycle failed, or the first size takes longer than the limit.
        """
        for number in sorted(slots):
            made: Table | None = None
            for count in sorted(classes):
                engines = [
                    name for name in self.engines if self._projected(name, (number, count)) <= self.limit
                ]
                if engines:
                    made = ours.read(texts(SLOTS[self.kind], range(number))) if made is None else made
                    self._measure(made, count, engines)
        known = fits(self.points)
        done = {(point.sizes, point.engine) for point in self.points}
        for sizes in itertools.product(slots, classes):
            self.points += [
                ScalePoint(*sizes, engine, known[engine].seconds(sizes))
                for engine in self.engines
                if (sizes, engine) not in done and engine in known
            ]

    def _measure(self, slots: Table, classes: int, engines: Sequence[str]) -> None:
        nobody = Table.from_ads(())
        jobs = ours.read(request_texts(classes, JOBS))
        with tempfile.TemporaryDirectory() as folder:
            pool = Path(folder, "pool")
            pool.write_bytes(Snapshot(schedds=nobody, submitters=nobody, slots=slots, jobs=jobs).encode())
            for engine in engines:
                figures = measure_cycle(pool, engine, _PATIENCE * self.limit)
                self.points.append(ScalePoint(len(slots), classes, engine, figures.seconds, figures))
                print_progress(self.points[-1])

    def _projected(self, engine: str, sizes: tuple[int, int]) -> float:
        """Return the seconds that a size may take: by the fit, and at least in proportion to its classes.

        While there is no fit, in proportion to its pairs of a slot and a class.
        """
        measured = [point for point in self.points if point.engine == engine]
        if not measured:
            return 0.0
        last = max(measured, key=lambda point: (point.classes, point.slots))
        by_classes = last.seconds * sizes[1] / last.classes
        growth = fits(measured).get(engine)
        if growth is not None and not any(growth.assumed):
            return max(growth.seconds(sizes), by_classes)
        return by_classes * max(1.0, sizes[0] / last.slots)


@click.command(short_help="Measure the largest cycles on each engine.")
@click.option("--kind", default="mixed", type=click.Choice([*SLOTS]), help="Of slots.", show_default=True)
@click.option("--slots", default="100000,300000,1000000", callback=numbers, help="Numbers of slots.")
@click.option(
    "--classes",
    default="300,1000,3000,10000",
    callback=numbers,
    help=f"Numbers of job classes, {JOBS} jobs each.",
)
@click.option(
    "--engines",
    default="local,processes:1,processes:2",
    help=f"As engine: in negotiator.yaml; {LOCAL_CLUSTER}N for a Dask cluster of N processes here.",
    show_default=True,
)
@click.option(
    "--limit", default=300.0, type=click.FloatRange(1), help="Seconds; longer cycles are extrapolated."
)
@click.option("--picture", type=click.Path(path_type=Path), help="Write a picture (SVG) to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with every figure.")
def scale(
    kind: str,
    slots: tuple[int, ...],
    classes: tuple[int, ...],
    engines: str,
    limit: float,
    picture: Path | None,
    *,
    as_json: bool,
) -> None:
    """Measure whole cycles (run_cycle under the default bundle, cold caches) of the largest pools, each in a process of its own.

    Fits the growth by slots and classes for each engine, extrapolates what would take too long, and tells which size wants
    which engine. A million slots take two minutes to make and 10 GB of memory.

    \b
    Exit codes:
      0  measured
      2  the command line is wrong
      4  something could not be measured

    \b
    Examples:
      make bench-scale SCALE="--slots 100000 --classes 10000"
      make bench-scale SCALE="--engines local,processes:2 --limit 60 --picture docs/scale.svg"
    """
    run = ScaleRun(kind, tuple(dict.fromkeys(engines.split(","))), limit)
    try:
        run.measure(slots, classes)
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    if as_json:
        click.echo(json.dumps(_as_json(kind, run.points), sort_keys=True))
    else:
        machine = this_machine(one_core=False)
        click.echo(
            printable(
                f"{machine.implementation} {machine.python}, {machine.processor}, {machine.cores} cores"
            )
        )
        print_points(kind, run.points)
    if picture is not None:
        title = f"Seconds of a whole cycle over {kind} slots, {JOBS} jobs of a class"
        picture.write_text(draw(title, "slots", "s", lines_of(run.points)), "utf-8")


def print_progress(point: ScalePoint) -> None:
    """Print a measured point to standard error."""
    if sys.stderr.isatty():
        click.echo(
            f"{point.slots:,} slots, {point.classes:,} classes, {point.engine}: {point.seconds:.1f} s",
            err=True,
        )


def lines_of(points: Sequence[ScalePoint]) -> list[Line]:
    """Return a line for each engine and number of classes, by slots: a colour for each engine, dashed if extrapolated."""
    groups: dict[tuple[str, int], list[ScalePoint]] = {}
    for point in sorted(points, key=lambda point: point.slots):
        groups.setdefault((point.engine, point.classes), []).append(point)
    colours = {engine: number for number, (engine, _) in enumerate(_by_engine(points))}
    return [
        Line(
            f"{engine}, {classes:,} classes",
            tuple((point.slots, point.seconds) for point in group),
            colours[engine],
            dashed=all(point.figures is None for point in group),
        )
        for (engine, classes), group in groups.items()
    ]


def print_points(kind: str, points: Sequence[ScalePoint]) -> None:
    """Print the figures of each size and engine, the exponents, and the engine that each size wants."""
    print_table(
        f"Whole cycles over {kind} slots, {JOBS} jobs of a class (~: extrapolated)",
        (
            "SLOTS",
            "CLASSES",
            "ENGINE",
            "SECONDS",
            "CYCLE'S CPU",
            "WORKERS' CPU",
            "GB",
            "MATCHES",
            "B/REQUEST",
        ),
        [_row(point) for point in sorted(points, key=lambda point: (point.slots, point.classes))],
        right=(0, 1, 3, 4, 5, 6, 7, 8),
    )
    print_table(
        "Exponents of the growth of seconds (in parentheses: assumed, since only one size was measured)",
        ("ENGINE", "SLOTS", "CLASSES"),
        [
            (engine, *map(_exponent, growth.exponents, growth.assumed))
            for engine, growth in fits(points).items()
        ],
        right=(1, 2),
    )
    print_table(
        "Which size wants which engine",
        ("SLOTS", "CLASSES", "ENGINE", "TIMES LOCAL"),
        [
            (f"{slots:,}", f"{classes:,}", engine, f"{times:.2f}")
            for (slots, classes), (engine, times) in sorted(best_engines(points).items())
        ],
        right=(0, 1, 3),
    )


def _exponent(value: float, assumed: bool) -> str:  # noqa: FBT001 - as the fit has them
    return f"({value:.0f})" if assumed else f"{value:.2f}"


def _row(point: ScalePoint) -> tuple[str, ...]:
    sizes = f"{point.slots:,}", f"{point.classes:,}", point.engine
    figures = point.figures
    if figures is None:
        return (*sizes, f"~{point.seconds:.1f}", "", "", "", "", "")
    return (
        *sizes,
        *(f"{value:.1f}" for value in (figures.seconds, figures.processor, figures.workers)),
        "" if figures.memory is None else f"{figures.memory / 1e9:.1f}",
        f"{figures.matches:,}",
        "" if figures.answers is None else f"{figures.answers / max(1, figures.requests):,.0f}",
    )


def _as_json(kind: str, points: Sequence[ScalePoint]) -> dict[str, object]:
    return {
        "kind": kind,
        "machine": attrs.asdict(this_machine(one_core=False)),
        "points": [attrs.asdict(point) for point in points],
        "growth": {engine: attrs.asdict(growth) for engine, growth in fits(points).items()},
        "engines": [
            {"slots": slots, "classes": classes, "engine": engine, "times_local": times}
            for (slots, classes), (engine, times) in sorted(best_engines(points).items())
        ],
    }


if __name__ == "__main__":
    scale(prog_name="python -m negotiator_bench.scale")
