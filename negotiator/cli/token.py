"""``negotiator admin token``: a token for a client of the HTTP interface."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import click

from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token


def token(file: Path, user: str, groups: tuple[str, ...], role: str, days: int | None) -> None:
    """Make a token, and print it."""
    last = None if days is None else dt.datetime.now(dt.UTC).date() + dt.timedelta(days)
    click.echo(make_token(file, user, groups, Role(role), last))
