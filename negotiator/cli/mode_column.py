"""The column MODE of tables of limits: shown if some limit does not enforce."""

from __future__ import annotations

from collections.abc import Sequence

from negotiator.cli.render import Row
from negotiator.records import Mode


def shown_mode(mode: Mode | str, *, limited: bool = True) -> str:
    """Return the text of the column: empty for a row that has no limit, or one that enforces."""
    return str(mode) if limited and mode != Mode.ENFORCE else ""


def with_modes(headers: tuple[str, ...], rows: Sequence[Row]) -> tuple[tuple[str, ...], list[Row]]:
    """Return headers and rows with the column, which is the last of each row; without it if all are empty."""
    if any(row[-1] for row in rows):
        return (*headers, "MODE"), list(rows)
    return headers, [row[:-1] for row in rows]
