"""``negotiator web``: the pages and the REST interface of a pool."""

from __future__ import annotations

from pathlib import Path

import click

from negotiator.app import parent_watch
from negotiator.app.pool_view import require_pool
from negotiator.app.targets import load
from negotiator.errors import InvalidCallError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.api.openapi import document_text
from negotiator.service.overviews import Overviews
from negotiator.service.server import WebServer


def web(
    targets: CommandTargets,
    host: str,
    port: int,
    assets: Path | None,
    tokens: Path | None,
    certificate: Path | None,
    key: Path | None,
    *,
    openapi: bool,
    end_with_parent: bool,
) -> None:
    """Serve until the process is ended; or print what is served."""
    if openapi:
        click.echo(document_text(), nl=False)
        return
    if end_with_parent:
        parent_watch.end_with_parent()
    if targets.state is None:
        require_pool(targets)
    if (certificate is None) != (key is None):
        raise InvalidCallError("a certificate needs its key: use --certificate and --key together")
    load(targets)  # its errors are printed before anything is served
    overviews = Overviews(targets)
    overviews.start()
    try:
        WebServer(host, port, certificate, key, assets, tokens).run(
            overviews, lambda url: click.echo(f"serving {url}/ws/v1/ and {url}/pool")
        )
    finally:
        overviews.stop()
