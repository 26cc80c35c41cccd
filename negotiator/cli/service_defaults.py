"""The values of options that are neither given nor in the environment: those of the configuration of the service.

Click looks them up in ``Context.default_map``. The file is read when the first one is looked up, so commands without such
options read nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from negotiator.defaults import SERVICE_FILE
from negotiator.hooks.command_options import CONFIG

if TYPE_CHECKING:
    from negotiator.app.service_file import ServiceFile

_PREFIX: Final = "NEGOTIATOR_"
#: A trial neither continues the state of the service nor writes to its audit log, unless the caller names them.
_NOT_USED: Final = {"run": frozenset({"state", "state_database", "name", "audit_log", "key_file"})}
#: The keys that have the state of a command.
STATE_KEYS: Final = frozenset({"state", "state_database", "state_timeout", "name"})
_FILE: Final = "negotiator.service_file"


def key_of(parameter: click.Parameter) -> str:
    """Return the key of an option in the file; empty if it has none. It is the name of its variable without the prefix."""
    variable = parameter.envvar
    if not isinstance(variable, str) or not variable.startswith(_PREFIX) or variable == CONFIG:
        return ""
    return variable.removeprefix(_PREFIX).lower()


def service_file(context: click.Context) -> ServiceFile | None:
    """Return the file of a command, read once; None if it has none."""
    if _FILE not in context.meta:
        context.meta[_FILE] = _read(context.meta.get(CONFIG))
    found: ServiceFile | None = context.meta[_FILE]
    return found


def _read(name: str | None) -> ServiceFile | None:
    path = Path(name) if name else SERVICE_FILE
    if name == "" or (name is None and not os.path.lexists(path)):
        return None
    from negotiator.app.service_file import read_service_file  # noqa: PLC0415 - a start without a file needs it not

    return read_service_file(path)


def _has_other_state(context: click.Context) -> bool:
    """True if a state is given that need not be that of the file: the database of the file is not that of its folder."""
    given = {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}
    return not _takes_all(context) and context.get_parameter_source("state") in given


class ServiceCommand(click.Command):
    """A command with the settings of the service: with all of them it reports the problems of the file with its own."""

    #: The error for an option that is not used, with its name as ``{}``.
    refusal = ""

    def used_keys(self, context: click.Context) -> Collection[str] | None:  # noqa: ARG002 - subclasses need it
        """Return the keys that are used as the command is called; None if all are."""
        return None


class SettingOption(click.Option):
    """The option of a key; its variable is not read if the command does not use the key."""

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the value of the variable."""
        return super().resolve_envvar_value(ctx) if is_used(ctx, key_of(self)) else None


def is_used(context: click.Context, key: str) -> bool:
    """True if the command uses a key as it is called."""
    command = context.command
    keys = command.used_keys(context) if isinstance(command, ServiceCommand) else None
    return keys is None or key in keys


def _takes_all(context: click.Context) -> bool:
    command = context.command
    return isinstance(command, ServiceCommand) and command.used_keys(context) is None


class ServiceDefaults(Mapping[str, Any]):
    """The ``default_map`` of the program, of its groups and of all their commands."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option of the command that is parsed, or the map of a command of a group.

        :raises KeyError: the option has no value in the file.
        :raises SettingsError: the file has errors.
        """
        context = click.get_current_context()
        parameters = {each.name: each for each in context.command.get_params(context)}
        if name not in parameters and isinstance(context.command, click.Group):
            return self
        key = key_of(parameters[name])
        if key in STATE_KEYS - {"state"} and _has_other_state(context):
            raise KeyError(name)
        if not key or key in _NOT_USED.get(context.command.name or "", ()) or context.resilient_parsing:
            raise KeyError(name)
        if not is_used(context, key):
            raise KeyError(name)
        file = service_file(context)
        if file is None:
            raise KeyError(name)
        if file.problems and not _takes_all(context):
            from negotiator.errors import SettingsError  # noqa: PLC0415

            raise SettingsError(file.problems, str(file.path))
        value = file.values[key]
        kind = parameters[name].type
        if isinstance(kind, click.Path) and kind.exists and not os.access(value, os.R_OK):
            raise file.missing(key)
        return str(value) if isinstance(value, str) else value  # click compares choices with plain texts

    def __iter__(self) -> Iterator[str]:
        """Yield no names: values are looked up only."""
        return iter(())

    def __len__(self) -> int:
        """Return 0: values are looked up only."""
        return 0
