"""The server: a socket, TLS, limits, and signals."""

from __future__ import annotations

import ipaddress
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
import uvicorn
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from negotiator.errors import CommandError, InvalidCallError
from negotiator.service.overviews import Overviews
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

    ``port`` 0 is any free one. ``assets`` is a folder of static files, as YuniKorn's web UI.
    """

    host: str = "127.0.0.1"
    port: int = 9080
    certificate: Path | None = None
    key: Path | None = None
    assets: Path | None = None

    def run(self, overviews: Overviews, started: Callable[[str], None]) -> None:
        """Serve until SIGTERM or SIGINT.

        :param started: called with the address (a URL) when requests are accepted.
        :raises InvalidCallError: the host is not the loopback interface.
        :raises CommandError: the address cannot be used.
        """
        app = make_app(overviews, [Middleware(TrustedHostMiddleware, allowed_hosts=[*_NAMES, self.host])])
        if self.assets is not None:
            app.mount("/", StaticFiles(directory=self.assets, html=True))
        config = uvicorn.Config(
            app,
            lifespan="off",
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
        with self._socket() as opened:
            signal.signal(signal.SIGTERM, lambda *_: None)  # the server raises it again when it has ended
            port = opened.getsockname()[1]
            host = f"[{self.host}]" if ":" in self.host else self.host
            started(f"http{'s' if self.certificate else ''}://{host}:{port}")
            uvicorn.Server(config).run(sockets=[opened])

    def _socket(self) -> socket.socket:
        if not _is_loopback(self.host):
            raise InvalidCallError(
                f"{self.host}: the service has no access control yet, so that it listens on the loopback interface only: "
                "use 127.0.0.1, and a proxy with access control for other hosts"
            )
        try:
            return socket.create_server(
                (self.host, self.port), family=socket.AF_INET6 if ":" in self.host else socket.AF_INET
            )
        except OSError as error:
            raise CommandError(f"{self.host}:{self.port}: cannot listen: {error.strerror or error}") from None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
