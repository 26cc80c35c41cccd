"""``negotiator repl``: expressions against one or two ads, one after the other."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from negotiator import __version__
from negotiator.classad import Side
from negotiator.cli.lines import PROMPT, line_editing, piped_lines
from negotiator.cli.render import POINT_IN_TIME, printable
from negotiator.cli.session import Leave, RefusedLineError, Session

FAILED, BAD_ADS = 1, 4


def _file(context: click.Context, parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and str(value) == "-":
        raise click.BadParameter("expressions come from standard input; name a file", context, parameter)
    return value


_ADS = click.Path(path_type=Path, allow_dash=True)


@click.command()
@click.option("--my", type=_ADS, callback=_file, help="File whose first ad is MY.")
@click.option("--target", type=_ADS, callback=_file, help="File whose first ad is TARGET.")
@click.option("--now", type=POINT_IN_TIME, help="Take this as the time, in seconds since the epoch.")
def repl(my: Path | None, target: Path | None, now: float | None) -> None:
    """Read ClassAd expressions, one a line, and print their values.

    They may refer to the attributes of two ads, MY and TARGET. Lines that begin with a colon are commands: :trace EXPR
    tells how a value came about, :set Name = EXPR puts an attribute into MY; :help lists them all. On a terminal Tab
    completes the names of attributes and functions, Ctrl-C drops a line and Ctrl-D ends. Where lines come from a
    pipe, only what is asked for is printed.

    \b
    Exit codes:
      0  the end was reached; on a terminal always
      1  a line from a pipe was no expression, or its command failed; the others were read
      2  the command line is wrong
      4  an ad of the command line could not be read

    \b
    Examples:
      negotiator repl --my machines.ads --target jobs.ads
      echo 'MY.Memory >= TARGET.RequestMemory' | negotiator repl --my machines.ads --target jobs.ads
    """
    session = Session(now, talks=_on_terminal())
    if session.talks:
        click.echo(f"negotiator {__version__}. Expressions are evaluated; :help lists the commands.")
    try:
        for side, path in ((Side.MY, my), (Side.TARGET, target)):
            if path is not None:
                session.take(side, path)
    except RefusedLineError:
        sys.exit(BAD_ADS)
    if session.talks:
        _converse(session)
    elif not _obey(session):
        sys.exit(FAILED)


def _on_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _obey(session: Session) -> bool:
    """Do what the lines of a pipe say; tell whether all of them could be done."""
    done = True
    try:
        for number, line in enumerate(piped_lines(), 1):
            done &= session.read(line, number)
    except Leave:
        pass
    return done


def _converse(session: Session) -> None:
    """Read lines from the terminal until the end; Ctrl-C ends the line or the evaluation, not the session."""
    with line_editing(session):
        while True:
            try:
                session.read(input(PROMPT))
            except EOFError:
                click.echo()
                break
            except Leave:
                break
            except KeyboardInterrupt:
                click.echo()
            except UnicodeDecodeError as error:
                click.echo(f"error: {printable(str(error))}", err=True)
