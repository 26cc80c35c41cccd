"""The size of terminals, and the columns that texts take on them: rich is asked about those that are not ASCII, and imported for them."""

from __future__ import annotations

import os
from typing import Final, TextIO

_USUAL: Final = (80, 24)


def terminal_size(stream: TextIO | None) -> tuple[int, int]:
    """Return the columns and lines of the terminal that a stream is; ``COLUMNS`` and ``LINES`` of the environment take precedence.

    ``shutil.get_terminal_size`` asks file descriptor 1, which is a copy of standard error while plugins run.
    """
    try:
        found = tuple(os.get_terminal_size(stream.fileno())) if stream is not None else _USUAL
    except (OSError, ValueError, AttributeError):
        found = _USUAL
    given = (os.environ.get(name, "") for name in ("COLUMNS", "LINES"))
    columns, lines = (
        int(text) if text.isdecimal() and int(text) else size or usual
        for text, size, usual in zip(given, found, _USUAL, strict=True)
    )
    return columns, lines


def cell_len(text: str) -> int:
    """Return the number of columns of a printable text."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as measured  # noqa: PLC0415 - takes long

    return measured(text)


def set_cell_size(text: str, total: int) -> str:
    """Return a text cut or filled to a number of columns."""
    if text.isascii():
        return text[: max(total, 0)].ljust(total)
    from rich.cells import set_cell_size as resized  # noqa: PLC0415 - takes long

    return resized(text, total)


def chop_cells(text: str, width: int) -> list[str]:
    """Return the pieces of a text, each of at most so many columns."""
    from rich.cells import chop_cells as chopped  # noqa: PLC0415 - takes long

    return chopped(text, width)
