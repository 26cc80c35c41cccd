"""``negotiator config``: the settings of the service, and what each comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from negotiator.app.service_settings import KEYS, ServiceSettings
from negotiator.cli.render import print_table, printable
from negotiator.cli.service_defaults import service_file
from negotiator.cli.settings import take_settings
from negotiator.hooks.state_location import DatabaseUrl


def config(context: click.Context, **given: Any) -> None:
    """Print the settings with which ``negotiator serve`` would run, and what each comes from.

    :raises SettingsError: the settings have errors; they were printed.
    """
    as_json = given.pop("as_json")
    settings, error = take_settings(context, given)
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
