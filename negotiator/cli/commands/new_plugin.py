"""``negotiator new-plugin``: the package of a plugin to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


@click.command("new-plugin", short_help="Write the package of a plugin to start from.")
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where it is written.  [default: negotiator-NAME]",
)
def new_plugin(**given: Any) -> None:
    """Write the package of a plugin: a policy with its own key of pool.yaml, tests of it, and a pyproject.toml.

    NAME is that of the plugin in bundles and audit records: letters in lower case, digits and "-". The package passes its tests, ruff and mypy
    as it is written. Files that exist are never changed: then nothing is written.

    \b
    Exit codes:
      0  the package is written
      1  a file exists already, or cannot be written
      2  invalid command line

    \b
    Examples:
      negotiator new-plugin night-shift
      pip install --editable 'negotiator-night-shift[test]' && pytest negotiator-night-shift
    """
    from negotiator.cli import new_plugin as implementation

    implementation.new_plugin(**given)
