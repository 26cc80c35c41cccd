"""Reads the ads that an expression is evaluated on, and finds them by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
import click

from negotiator.classad import Ad
from negotiator.cli.render import printable
from negotiator.errors import PoolError
from negotiator.records import Severity


@attrs.frozen
class Ads:
    """The ads of a file that could be read; ``complete`` is true if all could be."""

    ads: tuple[Ad, ...]
    complete: bool


def load(path: Path) -> Ads:
    """Return the ads of a file or folder, of standard input for ``-``; print problems to standard error."""
    from negotiator.pool import read_ads

    try:
        file = read_ads("-" if str(path) == "-" else path, sys.stdin.buffer if sys.stdin else None)
    except PoolError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        return Ads((), complete=False)
    for problem in file.problems:
        click.echo(printable(str(problem)), err=True)
    if not file.ads:
        click.echo(f"error: {printable(str(path))}: no readable ad", err=True)
    errors = any(problem.severity is Severity.ERROR for problem in file.problems)
    return Ads(tuple(ad for ad, _ in file.ads), complete=not errors)


def label(ad: Ad, row: int) -> str:
    """Return the name of an ad: its Name, the id of its job, or its number in the file, from 1."""
    name = ad.string("Name")
    if name:
        return name
    cluster = ad.integer("ClusterId")
    return str(row + 1) if cluster is None else f"{cluster}.{ad.integer('ProcId', 0)}"


def named(ads: Sequence[Ad], name: str) -> int | None:
    """Return the row of the first ad with this label, ignoring case; None if no ad has it."""
    wanted = name.lower()
    return next((row for row, ad in enumerate(ads) if label(ad, row).lower() == wanted), None)
