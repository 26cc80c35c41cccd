"""``negotiator fmt``: the YAML files of a bundle in one style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.hooks.command_options import FOLDER


@click.command(short_help="Format the YAML files and expressions of a policy bundle.")
@click.argument("folder", type=FOLDER, default=Path())
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not in the style.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would be changed.")
@options.targets("plugins_dirs", "disable")
def fmt(**given: Any) -> None:
    """Write the YAML files of the policy bundle in FOLDER (default: the current one), and the tests in it, in one style.

    Each level is indented by two blanks; there is one blank after -, : and commas, and around the operators of expressions. Comments, quotes, the
    order of keys and the lines of texts stay, and so does the meaning: each file is read again and compared before it is written.

    A file with an error is left alone and named; negotiator check prints all errors. Expressions are formatted if the bundle has no error.

    \b
    Exit codes:
      0  all files are in the style now
      1  a file has an error; or with --check, a file is not in the style
      2  invalid command line

    \b
    Examples:
      negotiator fmt policies/site
      negotiator fmt policies/site --diff
      negotiator fmt policies/site --check
    """
    from negotiator.cli import fmt as implementation

    implementation.fmt(**given)
