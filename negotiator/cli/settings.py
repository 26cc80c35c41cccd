"""The settings of the service, from the options, the environment and the file of a command, and what each comes from."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from negotiator.app.service_settings import KEYS, Origin, ServiceSettings, SettingOrigin, option_of
from negotiator.cli.render import print_table, printable
from negotiator.cli.service_command import ServiceCommand, SettingKey, is_used, key_of, takes_all
from negotiator.cli.service_defaults import service_file
from negotiator.errors import SettingsError
from negotiator.hooks.state_location import DatabaseUrl
from negotiator.records import Problem, Source

if TYPE_CHECKING:
    from negotiator.app.service_file import ServiceFile


def take_settings(context: click.Context, given: dict[str, Any]) -> ServiceSettings:
    """Remove the settings of the service from the parameters of a command, and return them.

    :raises click.UsageError: one is given that the command does not use as it is called.
    """
    values: dict[str, Any] = {}
    origins: dict[str, SettingOrigin] = {}
    for parameter in context.command.params:
        key, name = key_of(parameter), parameter.name or ""
        if key in KEYS:
            values[key] = given.pop(name)
            flags = parameter.secondary_opts if values[key] is False else parameter.opts
            option = option_of(key) if isinstance(parameter, SettingKey) else max(flags, key=len)
            origins[key] = _origin(context, parameter, key, option)
    return ServiceSettings(**values, origins=origins)


def refuse_options(context: click.Context, used: Collection[str]) -> None:
    """Check that no option is given that is neither used nor a setting.

    :raises click.UsageError: one is.
    """
    for parameter in context.command.params:
        name = parameter.name or ""
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if is_given and parameter.expose_value and name not in used and not key_of(parameter):
            raise _refusal(context, max(parameter.opts, key=len))


def _refusal(context: click.Context, option: str) -> click.UsageError:
    refusal = context.command.refusal if isinstance(context.command, ServiceCommand) else "{}"
    return click.UsageError(refusal.format(option))


def settings_error(context: click.Context, settings: ServiceSettings) -> SettingsError | None:
    """Return the exception for all errors of the settings and of the file; None without any."""
    from negotiator.app.service_checks import check_pages, check_settings  # noqa: PLC0415 - the status needs no checks

    file = service_file(context)
    problems = file.problems if file else ()
    is_default = {key for key in KEYS if settings.origin(key).kind is Origin.DEFAULT}
    check = check_settings if takes_all(context) else check_pages
    found = (*problems, *check(settings, file.invalid & is_default if file else frozenset()))
    return _error(sorted(found, key=lambda each: each.source), file)


def _error(problems: Sequence[Problem], file: ServiceFile | None) -> SettingsError | None:
    if not problems:
        return None
    is_of_file = file is not None and any(each.source.file == str(file.path) for each in problems)
    return SettingsError(problems, str(file.path) if file is not None and is_of_file else "")


def _origin(context: click.Context, parameter: click.Parameter, key: str, option: str) -> SettingOrigin:
    source = context.get_parameter_source(parameter.name or "")
    if source is ParameterSource.COMMANDLINE:
        if not is_used(context, key):
            raise _refusal(context, option)
        return SettingOrigin(Origin.OPTION, Source(option))
    if source is ParameterSource.ENVIRONMENT:
        return SettingOrigin(Origin.VARIABLE, Source(str(parameter.envvar)))
    file = service_file(context) if source is ParameterSource.DEFAULT_MAP else None
    return SettingOrigin() if file is None else SettingOrigin(Origin.FILE, file.sources[key])


def print_settings(context: click.Context, settings: ServiceSettings, *, as_json: bool) -> None:
    """Print the settings with which ``negotiator serve`` would run, and what each comes from.

    :raises SettingsError: the settings have errors; they were printed.
    """
    error = settings_error(context, settings)
    file = service_file(context)
    where = str(file.path) if file else ""
    if as_json:
        click.echo(json.dumps(_as_json(settings, where), indent=2))
    else:
        click.echo(printable(f"Configuration of the service: {where or 'no file'}"))
        click.echo()
        rows = [(key, printable(_text(getattr(settings, key))), str(settings.origin(key))) for key in KEYS]
        print_table("Settings", ("KEY", "VALUE", "ORIGIN"), rows)
    if error is not None:
        raise error


def _as_json(settings: ServiceSettings, where: str) -> dict[str, Any]:
    """Return the settings as plain data; ``place`` is the option, the variable or ``file:line:column``."""
    return {
        "file": where or None,
        "settings": {
            key: {
                "value": _plain(getattr(settings, key)),
                "origin": str(settings.origin(key).kind),
                "place": str(settings.origin(key).place) or None,
            }
            for key in KEYS
        },
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, Path | DatabaseUrl) else value  # a URL without its password


def _text(value: Any) -> str:
    """Return a value as the file has it; empty if there is none."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return json.dumps(value) if isinstance(value, bool) or value in {"", " "} else str(value)
