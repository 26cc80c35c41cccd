"""``negotiator repl``: evaluate expressions on one or two ads, interactively."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from negotiator import __version__
from negotiator.classad import Side
from negotiator.cli.lines import PROMPT, line_editing, piped_lines
from negotiator.cli.render import POINT_IN_TIME, printable
from negotiator.cli.session import EndOfSessionError, RefusedLineError, Session
from negotiator.exit_codes import ExitCode


def _file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and str(value) == "-":
        raise click.BadParameter("must be a file: standard input has the expressions", context, parameter)
    return value


_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command()
@click.option("--my", type=_ADS, callback=_file, help="File whose first ad is MY.")
@click.option("--target", type=_ADS, callback=_file, help="File whose first ad is TARGET.")
@click.option("--now", type=POINT_IN_TIME, help="Use this as the current time, in seconds since the epoch.")
def repl(my: Path | None, target: Path | None, now: float | None) -> None:
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
    session = Session(now, interactive=_on_terminal())
    if session.interactive:
        click.echo(f"negotiator {__version__}. Enter an expression; :help lists the commands.")
    try:
        for side, path in ((Side.MY, my), (Side.TARGET, target)):
            if path is not None:
                session.use(side, path)
    except RefusedLineError:
        sys.exit(ExitCode.POOL)
    if session.interactive:
        _run_interactively(session)
    elif not _run_piped(session):
        sys.exit(ExitCode.NOT_DONE)


def _on_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _run_piped(session: Session) -> bool:
    """Process the lines of a pipe; return whether all of them succeeded."""
    succeeded = True
    try:
        for number, line in enumerate(piped_lines(), 1):
            succeeded &= session.read(line, number)
    except EndOfSessionError:
        pass
    return succeeded


def _run_interactively(session: Session) -> None:
    """Process lines from the terminal until the end; Ctrl-C cancels the line or the evaluation, not the session."""
    with line_editing(session):
        while True:
            try:
                session.read(input(PROMPT))
            except EOFError:
                click.echo()
                break
            except EndOfSessionError:
                break
            except KeyboardInterrupt:
                click.echo()
            except UnicodeDecodeError as error:
                click.echo(f"error: {printable(str(error))}", err=True)
