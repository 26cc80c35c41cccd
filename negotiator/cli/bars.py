"""Bars that show how much of a limit is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from negotiator.cli.render import Row, terminal_columns

#: The width of a bar in characters, and on terminals of fewer columns than these.
_WIDTH, _NARROW_WIDTH = 20, 10
_NARROW_COLUMNS = 100


def limited(used: int, limit: int | None, shown: str) -> tuple[str, str]:
    """Return the text of a limit and its bar; both empty without a limit, no bar for a limit of 0."""
    if limit is None:
        return "", ""
    return shown, bar(used, limit) if limit else ""


def used_part(used: int, limit: int | None) -> float:
    """Return the part of a limit that is used; without a limit a number below 0, larger the more is used."""
    if limit is None:
        return -1 / (used + 1)
    return used / limit if limit else float(used > 0)


def most_used(rows: Sequence[tuple[float, Row]]) -> Callable[[int], list[Row]]:
    """Return a function that selects the rows of the most used limits, then the most used rows without a limit.

    :param rows: the ``used_part`` of each row, and the row.
    """
    ranked = [row for _, row in sorted(rows, key=lambda each: -each[0])]
    return lambda most: ranked[:most]


def bar(used: int, limit: int) -> str:
    """``[########------------]  40%``; never full before the limit is reached, never empty if something is used."""
    columns = terminal_columns()
    width = _NARROW_WIDTH if columns is not None and columns < _NARROW_COLUMNS else _WIDTH
    filled = min(width, used * width // limit)
    if used and not filled:
        filled = 1
    return f"[{'#' * filled}{'-' * (width - filled)}] {used * 100 // limit:3}%"
