"""``negotiator new-plugin``: the package of a plugin to start from."""

from __future__ import annotations

from pathlib import Path

import click

from negotiator.app.new_plugin import create_plugin
from negotiator.cli.render import printable


def new_plugin(name: str, folder: Path | None) -> None:
    """Write the package of a plugin."""
    made = create_plugin(name, folder)
    where = printable(str(made.folder))
    click.echo(f"Created {where}: {', '.join(made.files)}")
    click.echo("\nNext")
    click.echo(f"  cd {where}")
    click.echo("  pip install --editable '.[test]'")
    click.echo("  pytest && ruff check . && mypy")
