"""``negotiator repl``: evaluate expressions on one or two ads, interactively."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.hooks.command_options import POINT_IN_TIME


def _file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and str(value) == "-":
        raise click.BadParameter("must be a file: standard input has the expressions", context, parameter)
    return value


_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command()
@click.option("--my", type=_ADS, callback=_file, help="File whose first ad is MY.")
@click.option("--target", type=_ADS, callback=_file, help="File whose first ad is TARGET.")
@click.option("--now", type=POINT_IN_TIME, help="Use this as the current time, in seconds since the epoch.")
def repl(**given: Any) -> None:
    """Read ClassAd expressions, one a line, and print their values.

    They may refer to the attributes of two ads, MY and TARGET. Lines that begin with a colon are commands: :trace EXPR
    prints each part of an expression with its value, :set Name = EXPR gives MY an attribute; :help lists them all. On a
    terminal Tab completes the names of attributes and functions, Ctrl-C cancels a line and Ctrl-D ends the session. If
    the lines come from a pipe, nothing but values and the output of commands is printed.

    \b
    Exit codes:
      0  the end was reached; on a terminal always
      1  a line from a pipe did not parse, or its command failed; the others were read
      2  invalid command line
      4  an ad of the command line could not be read

    \b
    Examples:
      negotiator repl --my machines.ads --target jobs.ads
      echo 'MY.Memory >= TARGET.RequestMemory' | negotiator repl --my machines.ads --target jobs.ads
    """
    from negotiator.cli import repl as implementation

    implementation.repl(**given)
