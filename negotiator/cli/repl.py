"""``negotiator expr repl``: evaluate expressions on one or two ads, interactively."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from negotiator import __version__
from negotiator.classad import Side
from negotiator.cli.lines import PROMPT, line_editing, piped_lines
from negotiator.cli.render import printable
from negotiator.cli.session import EndOfSessionError, RefusedLineError, Session
from negotiator.exit_codes import ExitCode


def repl(my: Path | None, target: Path | None, now: float | None) -> None:
    """Read ClassAd expressions, one a line, and print their values."""
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
