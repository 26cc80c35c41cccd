"""``negotiator token``: a token for a client of the HTTP interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.app.token_roles import Role


@click.command(short_help="Make a token for a client of the HTTP interface.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--user", required=True, help="User that the access policies of the bundle see.")
@click.option(
    "--group", "groups", multiple=True, help="Group of the user, the primary one first; may be repeated."
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.VIEWER.value,
    show_default=True,
    help="What it may be used for.",
)
@click.option("--days", type=click.IntRange(1, 36_500), help="Days that it is valid for.  [default: no end]")
def token(**given: Any) -> None:
    """Make a token, add its entry to FILE, and print it. FILE has only its SHA-256: nobody can print it again.

    A client sends it as ``Authorization: Bearer TOKEN``. To end it, delete its entry: the service reads a changed FILE at once.

    \b
    Exit codes:
      0  made
      1  the file cannot be read or written, or has an invalid entry
      2  invalid command line

    \b
    Example:
      negotiator token tokens.yaml --user alice --role scheduler-administrator --days 365
    """
    from negotiator.cli import token as implementation

    implementation.token(**given)
