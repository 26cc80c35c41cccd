"""The page of a report: one file without scripts that loads nothing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Final

import attrs
import jinja2
from markupsafe import Markup

from negotiator import __version__
from negotiator.app.period_report import PeriodFigures, PoolReport
from negotiator.cli.html.bands import Bands, BarRow, ShareBars, bands, resource_bars, share_bars, use_bars
from negotiator.cli.html.charts import PoolLines, StackedBars, amount, average, handed_out, in_use, pool_lines
from negotiator.service.pages.rendering import static_files
from negotiator.service.pages.views.cycles import CyclesView, cycles_view
from negotiator.service.pages.views.elements import Moment, message, moment

_FOLDER: Final = Path(__file__).parent / "templates"


@attrs.frozen
class ReportFigure:
    """A number in large type, with what it is."""

    name: str
    value: str
    note: str


@attrs.frozen
class PeriodView:
    """The charts of a period of the audit log."""

    first: Moment | None
    last: Moment | None
    bars: tuple[StackedBars, ...]
    lines: PoolLines
    bands: Bands | None
    missing: int
    is_shadow: bool


@attrs.frozen
class NowView:
    """The bars of the pool now."""

    resources: tuple[BarRow, ...]
    users: tuple[BarRow, ...]
    queues: tuple[BarRow, ...]


@attrs.frozen(kw_only=True)
class ReportView:
    """What the template shows."""

    title: str
    made: Moment | None
    figures: tuple[ReportFigure, ...]
    period: PeriodView | None
    now: NowView | None
    shares: ShareBars | None
    cycles: CyclesView | None
    notes: tuple[str, ...]


def report_page(report: PoolReport, title: str) -> bytes:
    """Return the page of a report.

    :param title: its heading.
    """
    period, now = report.period, report.now
    view = ReportView(
        title=message(title),
        made=moment(report.made),
        figures=_figures(report),
        period=_period(period) if period else None,
        now=NowView(resource_bars(now), use_bars(now.users), use_bars(now.queues)) if now else None,
        shares=share_bars(report.history.last) if report.history else None,
        cycles=cycles_view(report.history) if report.history else None,
        notes=report.notes,
    )
    return _environment().get_template("report.html").render(view=view).encode()


def _period(period: PeriodFigures) -> PeriodView:
    drawn = (
        (in_use, period.use_by_user, "user"),
        (in_use, period.use_by_queue, "queue"),
        (handed_out, period.by_user, "user"),
        (handed_out, period.by_queue, "queue"),
    )
    return PeriodView(
        moment(period.first),
        moment(period.last),
        tuple(draw(period, series, of) for draw, series, of in drawn if series),
        pool_lines(period),
        bands(period.blocked),
        period.missing,
        period.is_shadow,
    )


def _figures(report: PoolReport) -> tuple[ReportFigure, ...]:
    found, period, now = [], report.period, report.now
    if period:
        slots, running = average(period.pool, "slots"), average(period.pool, "running")
        found += [
            ReportFigure("Cycles", f"{period.cycles:,}", "in the audit log"),
            ReportFigure(
                "Slots handed out", f"{period.matches:,}", f"to or wanted by {period.users:,} users"
            ),
            ReportFigure("Jobs that wait", amount(average(period.pool, "waiting")), "on average"),
        ]
        if slots:
            found.append(
                ReportFigure(
                    "Utilisation",
                    f"{running / slots:.0%}",
                    f"{amount(running)} running jobs, {amount(slots)} slots",
                )
            )
    if now:
        found.append(
            ReportFigure("Running now", f"{now.running:,}", f"jobs on {now.slots:,} slots; {now.idle:,} idle")
        )
    if report.history and report.history.cycles:
        failed = sum(bool(each.failure) for each in report.history.cycles)
        found.append(
            ReportFigure("Failed cycles", f"{failed:,}", f"of the last {len(report.history.cycles):,}")
        )
    return tuple(found)


@lru_cache(1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    styles = (static_files()["pages.css"].content, (_FOLDER / "report.css").read_bytes())
    environment.globals |= {
        "version": __version__,
        "styles": Markup("\n".join(each.decode() for each in styles)),  # noqa: S704 - files of the program
    }
    return environment
