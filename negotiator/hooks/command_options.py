"""The options that say where a command works, for commands of plugins; each may be given in the environment, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from negotiator.hooks.administration import CommandTargets

BUNDLE = "NEGOTIATOR_BUNDLE"
STATE = "NEGOTIATOR_STATE"
AUDIT_LOG = "NEGOTIATOR_AUDIT_LOG"
KEY_FILE = "NEGOTIATOR_KEY_FILE"
POOL = "NEGOTIATOR_POOL"  # several paths are separated as those of PATH are

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


class _PointInTime(click.types.FloatParamType):
    """Seconds since the epoch, of a time that has a date."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Take a number of the years 1 to 9999."""
        seconds: float = super().convert(value, param, ctx)
        if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
            self.fail("no time of the years 1 to 9999", param, ctx)
        return seconds


POINT_IN_TIME = _PointInTime()
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
#: A file or folder that may not be there yet, or that others read.
ANY_PATH = click.Path(path_type=Path, readable=False)
OPTIONS = (
    click.option(
        "--bundle",
        type=FOLDER,
        envvar=BUNDLE,
        show_envvar=True,
        help="Policy bundle. [default: the built-in one]",
    ),
    click.option(
        "--plugins-dir",
        "plugins_dirs",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Folder of plugin files to load too; may be given again.",
    ),
    click.option(
        "--disable", multiple=True, metavar="PLUGIN", help="Plugin to leave out; may be given again."
    ),
    click.option(
        "--state", type=ANY_PATH, envvar=STATE, show_envvar=True, help="Folder of the negotiator's state."
    ),
    click.option(
        "--audit-log",
        type=ANY_PATH,
        envvar=AUDIT_LOG,
        show_envvar=True,
        default=Path("var/audit"),
        show_default=True,
        help="Folder of the audit log, where no negotiator is running.",
    ),
    click.option(
        "--key-file",
        type=ANY_PATH,
        envvar=KEY_FILE,
        show_envvar=True,
        help="Key for the chain of the audit log.",
    ),
    click.option(
        "--pool",
        multiple=True,
        type=click.Path(path_type=Path, allow_dash=True),
        envvar=POOL,
        show_envvar=True,
        metavar="PATH",
        help="Folder or file of ads; may be given again.",
    ),
    click.option(
        "--now",
        type=POINT_IN_TIME,
        help="Take this as the time of what is counted, in seconds since the epoch.",
    ),
)


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say where it works, and hand what they say on as ``places``.

    All are long ones, so that a command may have any short switch; all but ``--plugins-dir``, ``--disable`` and ``--now``
    may be given in the environment instead.

    Example::

        @click.command()
        @site_options
        @click.pass_obj
        def calendar(site: Site, places: Places) -> None: ...
    """

    @wraps(function)
    def call(*arguments: Any, **given: Any) -> Any:
        places = CommandTargets(**{name: given.pop(name) for name in _NAMES})
        return function(*arguments, places=places, **given)

    for option in reversed(OPTIONS):
        option(call)
    return call


_NAMES = ("bundle", "plugins_dirs", "disable", "state", "audit_log", "key_file", "pool", "now")
