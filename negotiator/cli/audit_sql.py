"""``negotiator audit sql`` and ``export``: the audit log as tables."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import click

from negotiator.app.audit_sql import LogQuery, export_records, log_query
from negotiator.cli.phrases import number
from negotiator.cli.render import terminal_lines
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.hooks.command_targets import CommandTargets


def sql(
    targets: CommandTargets, query: str, limit: int | None, timeout: float, *, as_json: bool, as_csv: bool
) -> None:
    """Print the result of a query: as a table, as JSON lines or as CSV."""
    with log_query(targets.audit_log, query, timeout) as found:
        if as_json:
            for text in found.objects(limit):
                click.echo(text)
        elif as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow([column.name for column in found.columns])
            writer.writerows(found.rows(limit))
        else:
            _print_rows(found, limit)


def export(targets: CommandTargets, file: Path, since: float | None, until: float | None) -> None:
    """Write the records as Parquet."""
    count = export_records(targets.audit_log, file, since, until)
    click.echo(f"{click.format_filename(file)}: {number(count, 'record')}")


def _print_rows(found: LogQuery, limit: int | None) -> None:
    rows = list(found.rows(limit or terminal_lines()))
    headers = [column.name.upper() for column in found.columns]
    right = [place for place, column in enumerate(found.columns) if column.is_number]
    table = ScreenTable(number(found.count, "row"), headers, rows, right)
    print_tables([table], full=limit is not None, details="Details: --limit, --csv or --json")
    if not rows:
        click.echo("no row", err=True)
    elif found.count > len(rows):
        click.echo(
            f"and {number(found.count - len(rows), 'more row')}: use --limit, --csv or --json", err=True
        )
