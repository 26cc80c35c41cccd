"""The server: a socket, TLS, limits, and signals."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from negotiator.app.service_checks import is_loopback
from negotiator.app.tokens import read_tokens
from negotiator.errors import CommandError, InvalidCallError
from negotiator.service.access_log import AccessLog, RequestLog
from negotiator.service.callers import Callers
from negotiator.service.connections import TimedConnection
from negotiator.service.overviews import Overviews
from negotiator.service.pages.routes import to_pages
from negotiator.service.web_app import make_app

#: Requests that are answered at the same time; further ones get 503.
_MOST_REQUESTS: Final = 256
_KEEP_ALIVE: Final = 15  # seconds that a connection without requests stays open
_LONGEST_HEAD: Final = 32 * 1024  # bytes of a request before its body
_LAST_ANSWERS: Final = 5  # seconds for answers that have begun when the service ends
_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")


@attrs.frozen
class WebServer:
    """Where the service listens, and what it serves beside the REST interface.

    ``port`` 0 is any free one. ``assets`` is a folder of static files, as YuniKorn's web UI. ``tokens`` is the file of the tokens of
    clients. On other interfaces than the loopback one, every request needs a token, and connections are encrypted.
    """

    host: str = "127.0.0.1"
    port: int = 9080
    certificate: Path | None = None
    key: Path | None = None
    assets: Path | None = None
    tokens: Path | None = None

    def run(
        self, overviews: Overviews, started: Callable[[str], None], answered: RequestLog | None = None
    ) -> None:
        """Serve until SIGTERM or SIGINT.

        :param started: called with the address (a URL) when requests are accepted.
        :param answered: called with each request, once it was answered.
        :raises InvalidCallError: the host is not the loopback interface, and tokens or a certificate are missing.
        :raises CommandError: the address, the tokens or the certificate cannot be used.
        :raises UntrustedError: another user may have written the tokens.
        """
        local = is_loopback(self.host)
        if not local and (self.tokens is None or self.certificate is None):
            raise InvalidCallError(
                f"{self.host}: on other interfaces than the loopback one the service needs tokens and a certificate: "
                "set web_tokens, web_certificate and web_key, or use 127.0.0.1"
            )
        if self.tokens is not None:
            read_tokens(self.tokens)  # its errors are printed before anything is served
        # A page of another site that resolves its name to this host must not read what needs no token.
        names = [Middleware(TrustedHostMiddleware, allowed_hosts=[*_NAMES, self.host])] if local else []
        logged = [Middleware(AccessLog, answered=answered)] if answered else []
        app = make_app(overviews, Callers(self.tokens, open_to_all=local), [*logged, *names])
        if self.assets is None:
            app.add_route("/", to_pages, methods=["GET"])
        else:
            app.mount("/", StaticFiles(directory=self.assets, html=True))
        config = self._config(app)
        with self._socket() as opened:
            signal.signal(signal.SIGTERM, lambda *_: None)  # the server raises it again when it has ended
            port = opened.getsockname()[1]
            host = f"[{self.host}]" if ":" in self.host else self.host
            started(f"http{'s' if self.certificate else ''}://{host}:{port}")
            uvicorn.Server(config).run(sockets=[opened])

    def _config(self, app: Starlette) -> uvicorn.Config:
        config = uvicorn.Config(
            app,
            lifespan="off",
            http=TimedConnection,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=_MOST_REQUESTS,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=_LAST_ANSWERS,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
            ws="none",
            ssl_certfile=self.certificate,
            ssl_keyfile=self.key,
        )
        try:
            config.load()
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise CommandError(
                f"{self.certificate}: cannot use the certificate and its key: {error}"
            ) from None
        return config

    def _socket(self) -> socket.socket:
        try:
            found = socket.create_server(
                (self.host, self.port), family=socket.AF_INET6 if ":" in self.host else socket.AF_INET
            )
            # Connections inherit it: head and body of an answer are written one after the other, and the second one would
            # wait 40 ms for the client's acknowledgement of the first. asyncio sets it only if the protocol is named.
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise CommandError(f"{self.host}:{self.port}: cannot listen: {error.strerror or error}") from None
        return found
