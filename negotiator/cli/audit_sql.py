"""``negotiator audit sql`` and ``export``: the audit log as tables."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Final

import click

from negotiator.app.audit_sql import LogQuery, export_records, log_query
from negotiator.cli.phrases import number
from negotiator.cli.render import print_table
from negotiator.cli.table_layout import cut

#: Rows of a table, and characters of a cell.
_ROWS: Final = 40
_CELL: Final = 200


def sql(query: str, path: Path, limit: int | None, timeout: float, *, as_json: bool, as_csv: bool) -> None:
    """Print the result of a query: as a table, as JSON lines or as CSV."""
    with log_query(path, query, timeout) as found:
        if as_json:
            for text in found.objects(limit):
                click.echo(text)
        elif as_csv:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow([column.name for column in found.columns])
            writer.writerows(found.rows(limit))
        else:
            _print_rows(found, limit or _ROWS)


def export(file: Path, folder: Path, since: float | None, until: float | None) -> None:
    """Write the records as Parquet."""
    count = export_records(folder, file, since, until)
    click.echo(f"{click.format_filename(file)}: {number(count, 'record')}")


def _print_rows(found: LogQuery, limit: int) -> None:
    rows = [tuple(cut(cell, _CELL) for cell in row) for row in found.rows(limit)]
    headers = [column.name.upper() for column in found.columns]
    right = [place for place, column in enumerate(found.columns) if column.is_number]
    print_table(number(found.count, "row"), headers, rows, right=right)
    if not rows:
        click.echo("no row", err=True)
    elif found.count > len(rows):
        click.echo(
            f"and {number(found.count - len(rows), 'more row')}: use --limit, --csv or --json", err=True
        )
