"""``negotiator report``: writes one page of HTML about a period, the last cycles and the pool now."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from negotiator.app.period_report import pool_report
from negotiator.cli.html.page import report_page
from negotiator.cli.loading import load_view
from negotiator.cli.problems import print_problems_of_ads
from negotiator.errors import CommandError
from negotiator.files import replace_file
from negotiator.hooks.command_targets import CommandTargets

_MODE: Final = 0o640  # as the audit log: neither is for everybody


def report(
    file: Path,
    targets: CommandTargets,
    since: float | None,
    until: float | None,
    cycle: int | None,
    title: str,
) -> None:
    """Write the page, as a whole or not at all."""
    view = load_view(targets)
    found = pool_report(view, since, until, cycle)
    if found.now is not None:
        print_problems_of_ads(view.snapshot.problems, full=False)
    content = report_page(found, title)
    try:
        replace_file(file, content, mode=_MODE, durable=False)
    except OSError as error:
        raise CommandError(f"{file}: cannot write the report: {error.strerror or error}") from None
    click.echo(f"{click.format_filename(file)}: {len(content):,} bytes")
    for note in found.notes:
        click.echo(note, err=True)
