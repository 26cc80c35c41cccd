"""The values of options that are neither given nor in the environment: those of the configuration of the service.

Click looks them up in ``Context.default_map``. The file is read when the first one is looked up, so commands without such
options read nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from negotiator.cli.service_command import is_used, key_of, takes_all
from negotiator.defaults import SERVICE_FILE
from negotiator.hooks.command_options import CONFIG

if TYPE_CHECKING:
    from negotiator.app.service_file import ServiceFile

#: A trial neither continues the state of the service nor writes to its audit log, unless the caller names them.
_NOT_USED: Final = {"run": frozenset({"state", "state_database", "name", "audit_log", "key_file"})}
#: The keys that have the state of a command.
STATE_KEYS: Final = frozenset({"state", "state_database", "state_timeout", "name"})
_FILE: Final = "negotiator.service_file"


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
    return not takes_all(context) and context.get_parameter_source("state") in given


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
        if file.problems and not takes_all(context):
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
