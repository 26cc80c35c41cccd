"""Appends each match of a negotiation cycle to a CSV file, for spreadsheets and accounting scripts."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import attrs

from negotiator.plugin import Cycle, Match, Section, hookimpl

COLUMNS = ("cycle", "time", "match", "submitter", "schedd", "job", "slot", "rank", "warnings")


@attrs.frozen
class CsvMatches:
    """The key of ``pool.yaml`` that this plugin owns; without it nothing is written.

    It is a ``str``, not a ``Path``: a ``Path`` names a file of the bundle, and this file changes with each cycle.
    """

    csv_matches: str = ""


@hookimpl
def negotiator_section() -> Section:
    """Declare the key of pool.yaml."""
    return Section(schema=CsvMatches)


@hookimpl
def negotiator_matches_made(matches: Sequence[Match], settings: CsvMatches, cycle: Cycle) -> None:
    """Append the matches of this cycle, if there are any."""
    if settings.csv_matches and matches:
        append(Path(settings.csv_matches), matches, cycle)


def append(file: Path, matches: Sequence[Match], cycle: Cycle) -> None:
    """Append a line for each match; a new file begins with a line of titles."""
    text = io.StringIO()
    rows = csv.writer(text)
    # Names come from ads and may hold bytes that are not UTF-8: they are written unchanged.
    with file.open("a", encoding="utf-8", errors="surrogateescape", newline="") as opened:
        if opened.tell() == 0:
            rows.writerow(COLUMNS)
        rows.writerows(row(match, cycle) for match in matches)
        opened.write(text.getvalue())  # in one write, so that a full disk leaves as little as possible


def row(match: Match, cycle: Cycle) -> tuple[object, ...]:
    """Return the columns of one match."""
    time = datetime.fromtimestamp(cycle.now, UTC).isoformat()
    who = (match.submitter, match.schedd, match.job, match.slot)
    return (
        cycle.number,
        time,
        match.id,
        *who,
        match.rank,
        ", ".join(f"{reason.provenance.rule} ({reason.mode})" for reason in match.warnings),
    )
