"""``negotiator config``: the settings of the service, and what each comes from."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options
from negotiator.cli.service_defaults import ServiceCommand
from negotiator.cli.service_options import service_settings


@click.command(cls=ServiceCommand, short_help="Print the settings of the service, and what each comes from.")
@service_settings
@options.as_json
def config(**given: Any) -> None:
    """Print the settings with which negotiator serve would run, and what each comes from.

    An option takes precedence over a variable of the environment, that over the file, and that over the default. The file is
    the one of --config, else of NEGOTIATOR_CONFIG, else /etc/negotiator/negotiator.yaml if it exists. Each key of the
    file is an option and a variable too: web_key, --web-key, NEGOTIATOR_WEB_KEY.

    All problems are printed to standard error, with file, line and column. Of a file with a key or a certificate only its
    path is printed, and of a URL no password.

    \b
    Exit codes:
      0  negotiator serve can use the settings
      2  invalid command line, or the settings have errors

    \b
    Examples:
      negotiator config
      negotiator config --config negotiator.yaml --json
    """
    from negotiator.cli import config as implementation

    implementation.config(click.get_current_context(), **given)
