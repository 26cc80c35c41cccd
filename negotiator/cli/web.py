"""``negotiator web``: the pages and the REST interface of a pool."""

from __future__ import annotations

import logging
import traceback
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import attrs
import click

from negotiator.app import parent_watch
from negotiator.app.overview import exempt_reachable
from negotiator.app.pool_view import require_pool
from negotiator.app.targets import load
from negotiator.cli.event_log import open_log
from negotiator.errors import InvalidCallError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.access_log import AnsweredRequest
from negotiator.service.api.openapi import document_text
from negotiator.service.overviews import Overviews
from negotiator.service.server import WebServer

_READING: Final = frozenset({"GET", "HEAD"})


def web(
    targets: CommandTargets,
    host: str,
    port: int,
    assets: Path | None,
    tokens: Path | None,
    certificate: Path | None,
    key: Path | None,
    log_format: str,
    log_level: str,
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
    # Errors of the bundle are printed before anything is served. A negotiator may let its state belong to it only now.
    load(attrs.evolve(targets, state=None, state_database=None) if end_with_parent else targets)
    log = open_log(log_format, log_level)
    logging.getLogger("uvicorn.error").addHandler(_ServerLog(log))
    overviews = Overviews(targets, when_read=exempt_reachable)
    overviews.start()
    try:
        WebServer(host, port, certificate, key, assets, tokens).run(
            overviews, lambda url: click.echo(f"serving {url}/ws/v1/ and {url}/pool"), partial(_log, log)
        )
    finally:
        overviews.stop()


def _log(log: Any, request: AnsweredRequest) -> None:
    """Print a request: at level info if it changes something or is refused, at debug if it reads."""
    values = attrs.asdict(request) | {"seconds": round(request.seconds, 4)}
    if request.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request", **values)
    elif request.status >= HTTPStatus.BAD_REQUEST or request.method not in _READING:
        log.info("request", **values)
    else:
        log.debug("request", **values)


class _ServerLog(logging.Handler):
    """Prints what the server reports, such as requests that are not HTTP, as the log's lines."""

    def __init__(self, log: Any) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Print an event, and the traceback of an internal error."""
        fields = (
            {"traceback": "".join(traceback.format_exception(*record.exc_info))} if record.exc_info else {}
        )
        self._log.log(record.levelno, "web server", detail=record.getMessage().rstrip(), **fields)
