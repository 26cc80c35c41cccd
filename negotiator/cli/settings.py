"""The settings of the service, from the options, the environment and the file of a command."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from negotiator.app.service_checks import check_settings
from negotiator.app.service_settings import KEYS, Origin, ServiceSettings, SettingOrigin
from negotiator.cli.service_defaults import key_of, service_file
from negotiator.errors import SettingsError
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from negotiator.app.service_file import ServiceFile


def take_settings(
    context: click.Context, given: dict[str, Any]
) -> tuple[ServiceSettings, SettingsError | None]:
    """Remove the settings of the service from the parameters of a command; return them, and the exception for their errors."""
    values: dict[str, Any] = {}
    origins: dict[str, SettingOrigin] = {}
    for parameter in context.command.params:
        key, name = key_of(parameter), parameter.name or ""
        if key in KEYS:
            values[key] = given.pop(name)
            flags = parameter.secondary_opts if values[key] is False else parameter.opts
            origins[key] = _origin(context, parameter, key, flags)
    file = service_file(context)
    problems = file.problems if file else ()
    settings = ServiceSettings(**values, origins=origins)
    invalid = file.invalid & {key for key in KEYS if origins[key].kind is Origin.DEFAULT} if file else ()
    found = (*problems, *check_settings(settings, invalid))
    return settings, _error(sorted(found, key=lambda each: each.source), file)


def _error(problems: Sequence[Problem], file: ServiceFile | None) -> SettingsError | None:
    if not problems:
        return None
    is_of_file = file is not None and any(each.source.file == str(file.path) for each in problems)
    return SettingsError(problems, str(file.path) if file is not None and is_of_file else "")


def _origin(
    context: click.Context, parameter: click.Parameter, key: str, flags: Sequence[str]
) -> SettingOrigin:
    source = context.get_parameter_source(parameter.name or "")
    if source is ParameterSource.COMMANDLINE:
        return SettingOrigin(Origin.OPTION, Source(max(flags, key=len)))
    if source is ParameterSource.ENVIRONMENT:
        return SettingOrigin(Origin.VARIABLE, Source(str(parameter.envvar)))
    file = service_file(context)
    if source is ParameterSource.DEFAULT_MAP and file is not None:
        return SettingOrigin(Origin.FILE, file.sources[key])
    return SettingOrigin()
