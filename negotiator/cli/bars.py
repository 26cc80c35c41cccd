"""Bars that show how much of a limit is used."""

from __future__ import annotations

from rich.console import Console

_WIDTH = 20  # of a bar, in characters
_MIN_COLUMNS = 100  # of a terminal, for tables with bars


def limited(used: int, limit: int | None, shown: str) -> tuple[str, str]:
    """Return the text of a limit and its bar; both empty without a limit, no bar for a limit of 0."""
    if limit is None:
        return "", ""
    return shown, bar(used, limit) if limit else ""


def bar(used: int, limit: int) -> str:
    """``[########------------]  40%``; never full before the limit is reached, never empty if something is used.

    On a narrow terminal it is the number alone, since a folded bar shows nothing.
    """
    part = f"{used * 100 // limit:3}%"
    console = Console()
    if console.is_terminal and console.width < _MIN_COLUMNS:
        return part
    filled = min(_WIDTH, used * _WIDTH // limit)
    if used and not filled:
        filled = 1
    return f"[{'#' * filled}{'-' * (_WIDTH - filled)}] {part}"
