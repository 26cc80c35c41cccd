"""Bars for how full a limit is."""

from __future__ import annotations

from rich.console import Console

_WIDTH = 20  # of a bar, in characters
_ROOM = 100  # so many columns a terminal needs for tables with bars


def limited(used: int, limit: int | None, shown: str) -> tuple[str, str]:
    """A limit as it is shown, and a bar for how full it is; nothing where there is none, no bar of nothing."""
    if limit is None:
        return "", ""
    return shown, bar(used, limit) if limit else ""


def bar(used: int, limit: int) -> str:
    """``[########------------]  40%``; never full before the limit is reached, never empty where something is used.

    On a narrow terminal it is the number alone, since a bar that is folded shows nothing.
    """
    part = f"{used * 100 // limit:3}%"
    console = Console()
    if console.is_terminal and console.width < _ROOM:
        return part
    filled = min(_WIDTH, used * _WIDTH // limit)
    if used and not filled:
        filled = 1
    return f"[{'#' * filled}{'-' * (_WIDTH - filled)}] {part}"
