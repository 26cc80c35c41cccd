"""The options that name the bundle, the state, the audit log and the pool: declared once, for every command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from negotiator import posix
from negotiator.defaults import SERVICE_FILE

#: The file with the settings of the service.
CONFIG = "NEGOTIATOR_CONFIG"
BUNDLE = "NEGOTIATOR_BUNDLE"
PLUGINS_DIR = "NEGOTIATOR_PLUGINS_DIR"
DISABLE = "NEGOTIATOR_DISABLE"  # several names are separated by blanks
STATE = "NEGOTIATOR_STATE"
STATE_DATABASE = "NEGOTIATOR_STATE_DATABASE"
NAME = "NEGOTIATOR_NAME"
AUDIT_LOG = "NEGOTIATOR_AUDIT_LOG"
KEY_FILE = "NEGOTIATOR_KEY_FILE"
POOL = "NEGOTIATOR_POOL"  # several paths are separated as in PATH
SCHEDULER_ACL = "NEGOTIATOR_SCHEDULER_ACL"

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


class _PointInTime(click.types.FloatParamType):
    """Seconds since the epoch, within the years 1 to 9999."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number of seconds; fail outside the years 1 to 9999, which have no date."""
        seconds: float = super().convert(value, param, ctx)
        if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
            self.fail("a time must be in the years 1 to 9999", param, ctx)
        return seconds


class _DatabaseUrlType(click.types.StringParamType):
    """The URL of a PostgreSQL database; no message has it, since it may have a password."""

    name = "url"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the ``DatabaseUrl``; fail if it is invalid."""
        from negotiator.hooks.state_location import DatabaseUrl, InvalidDatabaseUrlError  # noqa: PLC0415 - as targets

        if isinstance(value, DatabaseUrl):
            return value
        try:
            return DatabaseUrl(value)
        except InvalidDatabaseUrlError as error:
            self.fail(str(error), param, ctx)


def _of_owner(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Return a value that decides who may change the configuration.

    In a set-user-ID program, whose owner is not the caller, the system's own file alone may have it.
    """
    written = {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}
    if posix.is_set_user_id() and context.get_parameter_source(parameter.name or "") in written:
        raise click.BadParameter("refused in a set-user-ID program", context, parameter)
    return value


def _use_file(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Remember the file for the other options of the command; they look it up if they are not given."""
    if _of_owner(context, parameter, value) is not None:
        context.meta[CONFIG] = value


#: Names the file from which options are read that are neither given nor in the environment.
service_file_option = click.option(
    "--config",
    envvar=CONFIG,
    show_envvar=True,
    metavar="FILE",
    type=click.Path(),
    is_eager=True,
    expose_value=False,
    callback=_use_file,
    help=f"Configuration of the service; an empty name is none.  [default: {SERVICE_FILE}, if it exists]",
)

POINT_IN_TIME = _PointInTime()
DATABASE_URL = _DatabaseUrlType()
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
#: A file or folder that may not exist yet, or that only other users may read.
ANY_PATH = click.Path(path_type=Path, readable=False)

#: The arguments of ``click.option``, by field of ``CommandTargets``.
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "bundle": {
        "type": FOLDER,
        "envvar": BUNDLE,
        "show_envvar": True,
        "metavar": "DIR",
        "help": "Policy bundle.  [default: the built-in one]",
    },
    "plugins_dirs": {
        "multiple": True,
        "type": click.Path(path_type=Path),
        "envvar": PLUGINS_DIR,
        "show_envvar": True,
        "metavar": "DIR",
        "help": "Folder of plugin files to load too; may be repeated.",
    },
    "disable": {
        "multiple": True,
        "envvar": DISABLE,
        "show_envvar": True,
        "metavar": "PLUGIN",
        "help": "Plugin to leave out; may be repeated.",
    },
    "state": {
        "type": ANY_PATH,
        "envvar": STATE,
        "show_envvar": True,
        "metavar": "DIR",
        "help": "Folder of the negotiator's state.",
    },
    "state_database": {
        "type": DATABASE_URL,
        "envvar": STATE_DATABASE,
        "show_envvar": True,
        "metavar": "URL",
        "hidden": True,
        "help": "PostgreSQL database that has the state, if several central managers share it.",
    },
    "negotiator_name": {
        "envvar": NAME,
        "show_envvar": True,
        "default": "",
        "metavar": "NAME",
        "hidden": True,
        "help": "With --state-database: one of several negotiators of a pool.",
    },
    "audit_log": {
        "type": ANY_PATH,
        "envvar": AUDIT_LOG,
        "show_envvar": True,
        "default": Path("var/audit"),
        "show_default": True,
        "metavar": "DIR",
        "help": "Folder of the audit log.",
    },
    "key_file": {
        "type": ANY_PATH,
        "envvar": KEY_FILE,
        "show_envvar": True,
        "metavar": "FILE",
        "help": "Key for the hash chain of the audit log.",
    },
    "pool": {
        "multiple": True,
        "type": click.Path(path_type=Path, allow_dash=True),
        "envvar": POOL,
        "show_envvar": True,
        "metavar": "PATH",
        "help": "Folder or file of ads; may be repeated.",
    },
    "now": {
        "type": POINT_IN_TIME,
        "metavar": "SECONDS",
        "help": "Use this as the current time, in seconds since the epoch.",
    },
    "scheduler_acl": {
        "envvar": SCHEDULER_ACL,
        "show_envvar": True,
        "metavar": "ACL",
        "callback": _of_owner,
        "hidden": True,
        "help": "Users and groups who may change the configuration.  [default: scheduleracl of the bundle]",
    },
}

_FLAGS = {
    "plugins_dirs": "--plugins-dir",
    "audit_log": "--audit-log",
    "key_file": "--key-file",
    "scheduler_acl": "--scheduler-acl",
    "state_database": "--state-database",
    "negotiator_name": "--negotiator-name",
}
#: Options that commands with another one get too, by that one.
_WITH = {"bundle": ("scheduler_acl",), "state": ("state_database", "negotiator_name")}
_SHORT = {"bundle": "-b"}
#: The option of a command that uses the bundle of a state.
_BUNDLE_OF_STATE = {"help": "Policy bundle.  [default: that of the state, else the built-in one]"}


def targets_from(
    *names: str, short: bool = False, **changed: Mapping[str, Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command some of the options and passes them on as ``targets``.

    A command with the bundle gets the option ``--scheduler-acl`` too: the list is a part of who may change it. One with the state
    gets ``--state-database`` and ``--negotiator-name``.

    :param names: fields of ``CommandTargets``; the others keep their defaults.
    :param short: add the short switches of the program's own commands.
    :param changed: arguments of ``click.option`` that differ for this command, by field.
    """

    fields = (*names, *(other for name in names for other in _WITH.get(name, ())))

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            from negotiator.hooks.command_targets import CommandTargets  # noqa: PLC0415 - help and completion start without

            targets = CommandTargets(**{name: given.pop(name) for name in fields})
            return function(*arguments, targets=targets, **given)

        own = {"bundle": _BUNDLE_OF_STATE} if "state" in fields else {}
        for name in reversed(fields):
            target_option(name, short=short, **{**own.get(name, {}), **changed.get(name, {})})(call)
        return service_file_option(call)

    return decorate


def target_option(
    name: str, *, short: bool = False, **changed: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command the option of a field of ``CommandTargets``.

    :param changed: arguments of ``click.option`` that differ for this command.
    """
    flags = [_FLAGS.get(name, f"--{name}")]
    if short and name in _SHORT:
        flags.insert(0, _SHORT[name])
    return click.option(*flags, name, **{**OPTIONS[name], **changed})


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a plugin's command all options of ``CommandTargets``, and pass them on as ``targets``.

    All are long options, so that a command may have any short switch; all but ``--now`` may be set in the environment
    instead, or in the configuration of the service (``--config``).

    Example::

        @click.command()
        @target_options
        @click.pass_obj
        def calendar(program: CommandContext, targets: CommandTargets) -> None: ...
    """
    others = {other for names in _WITH.values() for other in names}
    return targets_from(*(name for name in OPTIONS if name not in others))(function)
