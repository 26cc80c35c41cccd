"""Pieces of Markdown, for generated pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: The first line of each generated page.
GENERATED = "<!-- Made by `make docs-reference`; edit docs/tools/negotiator_docs instead. -->\n"

#: What would be markup where it is: an underscore inside a word and brackets without a target are not.
_SPECIAL = re.compile(r"([\\`*<>|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|\](?=[(\[]))")


def text(written: str) -> str:
    """Return plain text so that no character of it is markup; names in double backticks become code."""
    pieces = re.split(r"``?([^`]+)``?", written)
    return "".join(
        code(piece) if number % 2 else _SPECIAL.sub(r"\\\1", piece) for number, piece in enumerate(pieces)
    )


def code(written: str) -> str:
    """Return a text as code that may stand in a table."""
    return f"`{written}`".replace("|", "\\|") if written else ""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(' '.join(cell.split()) for cell in line)} |\n" for line in lines)
