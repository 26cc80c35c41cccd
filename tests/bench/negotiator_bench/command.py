"""``make bench``: how fast and how small the engine is, beside HTCondor's own library."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from statistics import median
from typing import Final

import click

from negotiator.cli.render import print_table, printable
from negotiator_bench.errors import BenchError
from negotiator_bench.figures import Area, Figure, SpeedTarget
from negotiator_bench.plan import FULL, QUICK
from negotiator_bench.suite import Report, run

MISSED, DISAGREE, NOT_MEASURED = 1, 3, 4

#: So many disagreements are printed; ``--json`` has them all.
SHOWN = 10

#: The tables in their order: an area, the unit of its figures (empty for any), and a title.
_TABLES: Final = (
    (Area.MATCHING, "", "Matching, slots by 100 job classes, cold"),
    (Area.RANKING, "", "The same with Rank and the choice of the best, beside matching alone"),
    (Area.SCALAR, "", "Evaluation of parsed Requirements, a pair of ads at a time"),
    (Area.COLUMNS, "", "One expression over all ads of a table, for each ad, beside ExprTree.eval"),
    (Area.READING, "", "Reading long form, beside parseNext on ready-cut strings"),
    (Area.MEMORY, "", "Memory, by the growth of a process"),
    (Area.PLACING, "", "Placing applications of 1,000 users (YuniKorn: 2.3 to 4.1 us)"),
    (Area.SWAPPING, "", "Changing the configuration of queues"),
    (Area.ADMISSION, "", "Admission and charge of a request, 20,000 slots of 5,000 hosts"),
    (Area.CHARGING, "", "A match on three queues, user and group (YuniKorn: 18 to 19 us)"),
    (Area.CYCLE, "s", "Whole cycles: 100 job classes of 100 jobs, under the default bundle"),
    (Area.CYCLE, "x", "Whole cycles over unlike slots, 2 jobs of a class, beside plain slots"),
    (Area.SHARING, "", "The same under fair share with accounting groups, beside submitters by name"),
    (Area.HOSTILE, "", "The ads of a hostile user, in reading and a cycle, beside as many plain ads"),
    (Area.START, "", "The start of the program: a process from its beginning to its end"),
    (Area.QUOTAS, "", "Resource quota sets, beside the same without (the real: 640 and 750 ms)"),
)


def _areas(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[Area, ...]:
    if value is None:
        return tuple(Area)
    try:
        return tuple(Area(name.strip().lower()) for name in value.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no list of {', '.join(Area)}; say for example matching,reading", context, parameter
        ) from None


@click.command(short_help="Measure speed and memory beside HTCondor's library.")
@click.option("--only", "areas", metavar="AREAS", callback=_areas, help=f"Some of {','.join(Area)}.")
@click.option("--quick", is_flag=True, help="Small inputs, to see that all of it works; no target is judged.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a target is missed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every single value.")
def bench(areas: tuple[Area, ...], *, quick: bool, strict: bool, as_json: bool) -> None:
    """Measure the engine on one core, HTCondor's own library (classad2) in turn with it, and print the ratios.

    Each figure is the median of five, by processor time. The library's answers are compared with ours: a benchmark of
    something else is worthless. Without the Python package htcondor there are no ratios, only our own times. All of it
    takes a few minutes and 2 GB.

    \b
    Exit codes:
      0  measured, whether or not the targets are met
      1  a target is missed or can't be judged, and --strict was given
      2  the command line is wrong
      3  the library's answers differ from ours
      4  something could not be measured

    \b
    Examples:
      make bench
      make bench BENCH="--only matching,reading --json"
    """
    if quick and strict:
        raise click.UsageError("--strict judges the full sizes, --quick has others: give one of them")
    try:
        report = run(QUICK if quick else FULL, areas, _print_progress)
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    if as_json:
        click.echo(json.dumps(report.as_json(), sort_keys=True))
    else:
        _print(report)
    for text in report.disagreements[:SHOWN]:
        click.echo(f"error: {printable(text)}", err=True)
    if report.disagreements:
        click.echo(f"error: {len(report.disagreements)} answers differ: the figures mean nothing", err=True)
        sys.exit(DISAGREE)
    if strict and (report.missed or report.unknown):
        sys.exit(MISSED)


def _print_progress(text: str) -> None:
    """Print progress to standard error."""
    if sys.stderr.isatty():
        click.echo(f"measuring {text}", err=True)


def _print(report: Report) -> None:
    machine = report.machine
    cores = f"{'one' if machine.one_core else 'any'} of {machine.cores} cores"
    click.echo(printable(f"{machine.implementation} {machine.python}, {machine.processor}, {cores}"))
    versions = ", ".join(f"{name} {version}" for name, version in machine.libraries.items() if version)
    click.echo(versions)
    click.echo(f"Medians of {report.plan.repetitions}, processor time; ratios are ours by classad2's")
    click.echo()
    for area, unit, title in _TABLES:
        figures = [each for each in report.figures if each.area is area and unit in {"", each.unit}]
        if figures:
            print_table(
                f"{title} ({figures[0].unit})",
                ("WHAT", "OURS", "CLASSAD2", "RATIO", "TARGET", ""),
                [_row(figure) for figure in figures],
                right=(1, 2, 3, 4),
            )
    _print_inputs(report)
    _print_verdict(report)


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        figure.what,
        _number(median(figure.ours)),
        _number(median(figure.theirs)) if figure.theirs else "",
        "" if figure.ratio is None else f"{_number(figure.ratio)}x",
        "" if figure.target is None else _target(figure.target),
        {True: "met", False: "MISSED", None: ""}[figure.met],
    )


def _target(target: SpeedTarget) -> str:
    unit = "x" if target.of == "ratio" else ""
    bound, sign = (target.at_least, ">=") if target.at_least is not None else (target.at_most, "<=")
    return f"{sign} {bound:,g}{unit}"


def _number(value: float) -> str:
    """Print three digits of a number, or all of those before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _print_inputs(report: Report) -> None:
    rows = [
        (name, str(made.attributes), str(made.differing), str(made.mostly_unique), f"{made.bytes:,}")
        for name, made in report.inputs.items()
    ]
    headers = ("MADE ADS", "ATTRIBUTES", "DIFFERING", "MOSTLY UNIQUE", "BYTES")
    print_table("Inputs, of an ad on average", headers, rows, right=(1, 2, 3, 4))
    click.echo(_notes(f"{name}: {made.notes}" for name, made in report.inputs.items()))
    click.echo()


def _notes(texts: Iterable[str]) -> str:
    return "\n".join(
        click.wrap_text(printable(text), 78, initial_indent="  ", subsequent_indent="    ") for text in texts
    )


def _print_verdict(report: Report) -> None:
    if not report.library:
        click.echo(
            "Ratios need HTCondor's library, which is not installed: pip install htcondor.\n"
            "These are our own figures only."
        )
    if not report.plan.judged:
        click.echo("A quick run: no target is judged.")
        return
    met = sum(figure.met is True for figure in report.figures)
    click.echo(f"Targets met: {met}, missed: {len(report.missed)}, not judged: {len(report.unknown)}")
