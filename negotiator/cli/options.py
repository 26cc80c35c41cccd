"""Options that several commands take, each worded once."""

from __future__ import annotations

from pathlib import Path

import click

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)

bundle = click.option(
    "-b", "--bundle", "folder", type=FOLDER, help="Policy bundle. [default: the built-in one]"
)
plugins_dir = click.option(
    "--plugins-dir",
    "plugins_dirs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Folder of plugin files to load too; may be given again.",
)
disable = click.option(
    "--disable", multiple=True, metavar="PLUGIN", help="Plugin to leave out; may be given again."
)
