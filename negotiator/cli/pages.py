"""``negotiator serve --pages``: the pages and the REST interfaces of a pool, without cycles."""

from __future__ import annotations

import logging
import traceback
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import attrs
import click

from negotiator.app import web_process
from negotiator.app.overview import exempt_reachable
from negotiator.app.pool_view import require_pool
from negotiator.app.service_settings import Origin, ServiceSettings
from negotiator.app.targets import load
from negotiator.cli.event_log import open_log
from negotiator.cli.settings import refuse_options, settings_error, take_settings
from negotiator.errors import InvalidCallError
from negotiator.service.access_log import AnsweredRequest
from negotiator.service.overviews import Overviews
from negotiator.service.server import WebServer

_READING: Final = frozenset({"GET", "HEAD"})


def pages(context: click.Context, *, end_with_parent: bool, **given: Any) -> None:
    """Serve until the process is ended.

    :raises SettingsError: the settings have errors.
    """
    settings = take_settings(context, given)
    refuse_options(context, {"pages", "end_with_parent"})
    if (error := settings_error(context, settings)) is not None:
        raise error
    if end_with_parent:
        web_process.end_with_parent()
    _serve(settings, end_with_parent=end_with_parent)


def _serve(settings: ServiceSettings, *, end_with_parent: bool) -> None:
    targets = settings.targets
    if settings.origin("state").kind is Origin.DEFAULT:
        targets = attrs.evolve(targets, state=None)  # the ads of --pool need no state
        require_pool(targets)
    if (settings.web_certificate is None) != (settings.web_key is None):
        raise InvalidCallError("a certificate needs its key: set web_certificate and web_key together")
    # Errors of the bundle are printed before anything is served. A negotiator may let its state belong to it only now.
    load(attrs.evolve(targets, state=None, state_database=None) if end_with_parent else targets)
    log = open_log(settings.log_format, settings.log_level)
    logging.getLogger("uvicorn.error").addHandler(_ServerLog(log))
    overviews = Overviews(targets, when_read=exempt_reachable)
    overviews.start()
    server = WebServer(
        settings.web_bind_host,
        settings.web_bind_port,
        settings.web_certificate,
        settings.web_key,
        settings.web_assets,
        settings.web_tokens,
    )
    try:
        server.run(
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
