"""Options that several commands take, each declared once; those of ``CommandTargets`` are in ``hooks.command_options``."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial, wraps
from typing import IO, TYPE_CHECKING, Any

import click

from negotiator.hooks.command_options import FOLDER, targets_from

if TYPE_CHECKING:
    from negotiator.app.context import ProgramContext

#: Forms and levels of the lines that a long run prints.
FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")

#: Gives a command the named options of ``CommandTargets``, with the program's short switches.
targets: Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]] = partial(targets_from, short=True)

#: The state option of a command that only reads the state.
READ_STATE = {
    "type": FOLDER,
    "help": "Folder of a negotiator's state; it is only read.  [default: the configured queues]",
}


#: The pool option of a command that also takes the ads that a negotiator has saved.
READ_POOL = {
    "help": "Folder or file of ads; may be repeated.  [default: those that the negotiator of the state has saved]"
}


def named_values(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the values of a repeated option ``NAME=VALUE`` by name, in lower case.

    :raises click.BadParameter: one has another form.
    """
    named = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not name or not equals:
            # Without the value, which may be a secret.
            raise click.BadParameter(f"{name!r}: write NAME=VALUE")
        named[name.lower()] = text
    return named


#: Gives a command the options of a pool at this time, with the bundle and the state that it is looked at with.
pool_now = targets(
    "pool", "bundle", "state", "plugins_dirs", "disable", "now", pool=READ_POOL, state=READ_STATE
)


class RegularFile(click.File):
    """A file to read, or ``-``; a FIFO or a device is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> IO[Any]:
        """Return the opened file."""
        from negotiator.files import check_regular

        if isinstance(value, str) and value != "-":
            try:
                check_regular(value)
            except OSError as error:
                self.fail(f"'{value}': {error.strerror}", param, ctx)
        return super().convert(value, param, ctx)


class _QueuePath(click.types.StringParamType):
    """The full path of a queue, in any case of the letters; the value is in lower case."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path; fail unless it is that of the root or of a queue below it."""
        from negotiator.queues.names import QUEUE_NAME, ROOT, is_qualified, is_queue_name

        path = str(super().convert(value, param, ctx)).lower()
        if path != ROOT and not is_qualified(path):
            self.fail(f"{value!r} is not the full path of a queue: use {ROOT}.{value}", param, ctx)
        wrong = next((name for name in path.split(".") if not is_queue_name(name)), None)
        if wrong is not None:
            self.fail(f"invalid name of a queue, {wrong[:80]!r}: {QUEUE_NAME}", param, ctx)
        return path


def _user(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    from negotiator.app.subject import is_name

    if value and not is_name(value):
        raise click.BadParameter("the name of a user must have at most 200 printable characters")
    return value


class _PastTime(click.types.FloatParamType):
    """A time in seconds since the epoch: a date or time (UTC unless it names its zone), or a time ago, such as ``12h``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the time; fail if it is invalid."""
        if isinstance(value, float):
            return value
        ago = re.fullmatch(r"(\d{1,6})([mhd])", value, re.ASCII)
        if ago:
            return time.time() - int(ago[1]) * {"m": 60, "h": 3600, "d": 86400}[ago[2]]
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value[:40]!r} is not a time: use 2026-11-20, 2026-11-20T14:30Z, or 30m, 12h, 7d",
                param,
                ctx,
            )
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


class _MonthType(click.ParamType[tuple[float, float]]):
    """A month in UTC, such as ``2026-11``: its begin and its end in seconds since the epoch."""

    name = "month"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float]:
        """Return the times; fail if it is invalid."""
        try:
            first = datetime.strptime(value, "%Y-%m").replace(tzinfo=UTC)
            last = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
        except ValueError:
            self.fail(f"{value[:40]!r} is not a month: use 2026-11", param, ctx)
        return first.timestamp(), last.timestamp()


def job_id(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return the id of a job or a cluster; fail if it is invalid."""
    if value and not re.fullmatch(r"\d+(\.\d+)?", value, re.ASCII):
        raise click.BadParameter(f"{value[:40]!r} is not the id of a job: use CLUSTER.PROC or CLUSTER")
    return value


QUEUE_PATH = _QueuePath()
PAST_TIME = _PastTime()
MONTH = _MonthType()
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
full = click.option("--full", is_flag=True, help="Print everything, instead of what fits on the terminal.")
user = click.option("--user", metavar="NAME", callback=_user, help="The user in question.")
group = click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    help="A group of the user, the primary one first; may be repeated.  [default: from plugins]",
)


def pass_program(function: Callable[..., Any]) -> Callable[..., Any]:
    """Pass the program to a command, as its first argument; make one if the command is run without the group of all."""

    @wraps(function)
    def call(*arguments: Any, **given: Any) -> Any:
        from negotiator.app.context import ProgramContext

        program: ProgramContext = click.get_current_context().ensure_object(ProgramContext)
        return function(program, *arguments, **given)

    return call
