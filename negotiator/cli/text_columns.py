"""The columns that texts take on a terminal: rich is asked about those that are not ASCII, and imported for them."""

from __future__ import annotations


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
