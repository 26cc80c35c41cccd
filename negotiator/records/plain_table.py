"""Tables as plain text: aligned columns, two blanks apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def plain_lines(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> Iterator[str]:
    """Yield the headers and rows as aligned, indented lines.

    :param rows: cells without control characters, as many in each row as headers.
    :param right: the places of columns that are aligned right.
    """
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    for row in ([*headers], *rows):
        line = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield f"  {'  '.join(line)}".rstrip()
