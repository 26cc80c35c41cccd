"""Options that measurements have in common."""

from __future__ import annotations

import click


def numbers(_context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    """Parse positive integers with commas."""
    try:
        found = tuple(sorted({int(part) for part in value.split(",")}))
    except ValueError:
        found = (0,)
    if found[0] <= 0:
        raise click.BadParameter(
            f"{value!r}: write positive integers with commas, as 1000,5000", param=parameter
        )
    return found
