"""The options that name the bundle, the state, the audit log and the pool: declared once, for every command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import click

BUNDLE = "NEGOTIATOR_BUNDLE"
STATE = "NEGOTIATOR_STATE"
AUDIT_LOG = "NEGOTIATOR_AUDIT_LOG"
KEY_FILE = "NEGOTIATOR_KEY_FILE"
POOL = "NEGOTIATOR_POOL"  # several paths are separated as in PATH

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


POINT_IN_TIME = _PointInTime()
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
        "metavar": "DIR",
        "help": "Folder of plugin files to load too; may be repeated.",
    },
    "disable": {
        "multiple": True,
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
}

_FLAGS = {"plugins_dirs": "--plugins-dir", "audit_log": "--audit-log", "key_file": "--key-file"}
_SHORT = {"bundle": "-b"}


def targets_from(
    *names: str, short: bool = False, **changed: Mapping[str, Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a command some of the options and passes them on as ``targets``.

    :param names: fields of ``CommandTargets``; the others keep their defaults.
    :param short: add the short switches of the program's own commands.
    :param changed: arguments of ``click.option`` that differ for this command, by field.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            from negotiator.hooks.command_targets import CommandTargets  # noqa: PLC0415 - help and completion start without

            targets = CommandTargets(**{name: given.pop(name) for name in names})
            return function(*arguments, targets=targets, **given)

        for name in reversed(names):
            flags = [_FLAGS.get(name, f"--{name}")]
            if short and name in _SHORT:
                flags.insert(0, _SHORT[name])
            click.option(*flags, name, **{**OPTIONS[name], **changed.get(name, {})})(call)
        return call

    return decorate


def target_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a plugin's command all options of ``CommandTargets``, and pass them on as ``targets``.

    All are long options, so that a command may have any short switch; all but ``--plugins-dir``, ``--disable`` and
    ``--now`` may be set in the environment instead.

    Example::

        @click.command()
        @target_options
        @click.pass_obj
        def calendar(program: CommandContext, targets: CommandTargets) -> None: ...
    """
    return targets_from(*OPTIONS)(function)
