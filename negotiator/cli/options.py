"""Options that several commands take, each worded once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from negotiator.app.context import ProgramContext
from negotiator.cycle.applications import is_name
from negotiator.hooks import command_options
from negotiator.hooks.command_options import ANY_PATH, POINT_IN_TIME
from negotiator.hooks.command_options import FOLDER as FOLDER
from negotiator.queues.names import QUEUE_NAME, ROOT, is_qualified, is_queue_name

Command = TypeVar("Command", bound=Callable[..., Any])


class _QueuePath(click.types.StringParamType):
    """The full path of a queue, in any case of the letters; the value is in lower case."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Take root, and what begins with it."""
        path = str(super().convert(value, param, ctx)).lower()
        if path != ROOT and not is_qualified(path):
            self.fail(f"{value!r} is no path of a queue: say {ROOT}.{value}", param, ctx)
        wrong = next((name for name in path.split(".") if not is_queue_name(name)), None)
        if wrong is not None:
            self.fail(f"{wrong[:80]!r} is no name of a queue: {QUEUE_NAME}", param, ctx)
        return path


def _user(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value and not is_name(value):
        raise click.BadParameter("a user's name has up to 200 characters that can be printed")
    return value


bundle = click.option(
    "-b",
    "--bundle",
    "folder",
    type=FOLDER,
    envvar=command_options.BUNDLE,
    show_envvar=True,
    help="Policy bundle. [default: the built-in one]",
)
audit_log = click.option(
    "--audit-log",
    type=ANY_PATH,
    default=Path("var/audit"),
    show_default=True,
    envvar=command_options.AUDIT_LOG,
    show_envvar=True,
    help="Folder of the audit log.",
)
key_file = click.option(
    "--key-file",
    type=ANY_PATH,
    envvar=command_options.KEY_FILE,
    show_envvar=True,
    help="Key for the chain of the audit log.",
)
plugins_dir = click.option(
    "--plugins-dir",
    "plugins_dirs",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Folder of plugin files to load too; may be given again.",
)


def pool(text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Give an option for the ads that a command looks at; ``text`` says what for."""
    return click.option(
        "--pool",
        multiple=True,
        required=required,
        type=click.Path(path_type=Path, allow_dash=True),
        metavar="PATH",
        envvar=command_options.POOL,
        show_envvar=True,
        help=text,
    )


disable = click.option(
    "--disable", multiple=True, metavar="PLUGIN", help="Plugin to leave out; may be given again."
)
state = click.option(
    "--state",
    type=FOLDER,
    metavar="DIR",
    envvar=command_options.STATE,
    show_envvar=True,
    help="Folder in which a negotiator keeps its queues; nothing is written.  [default: the configured queues]",
)
now = click.option("--now", type=POINT_IN_TIME, help="Take this as the time, in seconds since the epoch.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
user = click.option("--user", metavar="NAME", callback=_user, help="Whom it is asked about.")
group = click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="NAME",
    help="A group of the user, the primary one first; may be given again.  [default: as plugins know them]",
)
QUEUE_PATH = _QueuePath()
#: Passes the program to a command; one is made if the command is run without the group of all commands.
pass_program = click.make_pass_decorator(ProgramContext, ensure=True)
