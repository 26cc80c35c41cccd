"""``negotiator web``: the HTTP interface of a pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import options
from negotiator.hooks.command_options import FOLDER

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Serve pages of a pool, and REST interfaces, YuniKorn's too.")
@options.targets("bundle", "state", "audit_log", "key_file", "pool", "plugins_dirs", "disable")
@click.option(
    "--host",
    envvar="NEGOTIATOR_WEB_BIND_HOST",
    show_envvar=True,
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on.",
)
@click.option(
    "--port",
    envvar="NEGOTIATOR_WEB_BIND_PORT",
    show_envvar=True,
    default=9080,
    type=click.IntRange(0, 65535),
    show_default=True,
    help="Port; 0 is any free one.",
)
@click.option(
    "--assets",
    envvar="NEGOTIATOR_WEB_ASSETS",
    show_envvar=True,
    type=FOLDER,
    help="Folder of static files to serve too, as YuniKorn's web UI.",
)
@click.option(
    "--tokens",
    envvar="NEGOTIATOR_WEB_TOKENS",
    show_envvar=True,
    type=_FILE,
    help="File of the tokens of clients (negotiator admin token).",
)
@click.option(
    "--certificate",
    envvar="NEGOTIATOR_WEB_CERTIFICATE",
    show_envvar=True,
    type=_FILE,
    help="Certificate for HTTPS, in PEM form.",
)
@click.option(
    "--key",
    envvar="NEGOTIATOR_WEB_KEY",
    show_envvar=True,
    type=_FILE,
    help="Private key of the certificate, in PEM form.",
)
@click.option(
    "--log-format",
    envvar="NEGOTIATOR_LOG_FORMAT",
    show_envvar=True,
    default=options.FORMATS[0],
    type=click.Choice(options.FORMATS),
    show_default=True,
    help="The form of the lines on standard error.",
)
@click.option(
    "--log-level",
    envvar="NEGOTIATOR_LOG_LEVEL",
    show_envvar=True,
    default="info",
    type=click.Choice(options.LEVELS),
    show_default=True,
    help="Print events of this level and above: info has requests that change something or are refused, debug all.",
)
@click.option("--openapi", is_flag=True, help="Print the OpenAPI document of /api/v1, and end.")
@click.option("--end-with-parent", is_flag=True, help="End when the process that started this one has ended.")
def web(**given: Any) -> None:
    """Serve the queues, applications, machines and usage of a pool over HTTP.

    The pages are at /pool, the program's own REST interface is at /api/v1, answers in the shapes of YuniKorn's at /ws/v1.

    Without --pool it shows the pool of the negotiator that uses the state (negotiator serve), after its first cycle.

    The pool is read again when its files, the state or the bundle have changed. Everybody on this host can read. With a token, a
    scheduler administrator can replace queues.yaml; on other interfaces than the loopback one every request needs a token.

    \b
    Exit codes:
      0  ended by SIGTERM
      1  the bundle has errors, or the address cannot be used
      2  invalid command line
      130  interrupted by Ctrl-C

    \b
    Examples:
      negotiator web --pool examples/first-pool
      negotiator web --bundle policies/site --state /var/lib/negotiator/state
      negotiator web --bundle policies/limits --pool examples/first-pool --port 9081
      negotiator web --openapi
    """
    from negotiator.cli import web as implementation

    implementation.web(**given)
