"""The ASGI application: the REST interface, the pages, metrics, and what each exception is answered with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from negotiator.app.health import Health
from negotiator.errors import NegotiatorError
from negotiator.service.answers import (
    InvalidNameError,
    NotFoundHereError,
    NotReadError,
    failing_with,
    http_error,
    unexpected_error,
    use_case_error,
)
from negotiator.service.api.routes import api_routes
from negotiator.service.bodies import TooLargeError, UnsupportedBodyError
from negotiator.service.callers import Callers, ForbiddenError, UnauthorizedError
from negotiator.service.configuration import Configuration
from negotiator.service.metrics import CONTENT_TYPE, metrics_text
from negotiator.service.overviews import Overviews
from negotiator.service.pages.answers import PageHeaders
from negotiator.service.pages.routes import page_routes
from negotiator.service.paths import EscapedNames
from negotiator.service.yunikorn.routes import BASE, read_routes


def make_app(
    overviews: Overviews, callers: Callers | None = None, middleware: Sequence[Middleware] = ()
) -> Starlette:
    """Return the application that answers from these overviews.

    :param callers: finds who sends a request; None: everybody may read, and nobody may change anything.
    """
    known = callers or Callers()
    configuration = Configuration(overviews, known)

    def metrics(request: Request) -> Response:
        known.check_reader(request)
        return Response(
            metrics_text(overviews), media_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"}
        )

    routes = [
        *read_routes(overviews, known),
        *(Route(path, metrics, methods=["GET"]) for path in ("/metrics", f"{BASE}/metrics")),
        Route("/livez", _live, methods=["GET"]),
        Route("/readyz", _ready(overviews), methods=["GET"]),
        Route(f"{BASE}/config", configuration.read, methods=["GET"]),
        Route(f"{BASE}/config", configuration.change, methods=["PUT"]),
        Route(f"{BASE}/validate-conf", configuration.validate, methods=["POST"]),
        *api_routes(overviews, known),
        *page_routes(overviews, known),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(EscapedNames), Middleware(PageHeaders), *middleware],
        exception_handlers={
            NotFoundHereError: failing_with(HTTPStatus.NOT_FOUND),
            InvalidNameError: failing_with(HTTPStatus.BAD_REQUEST),
            NotReadError: failing_with(HTTPStatus.SERVICE_UNAVAILABLE),
            UnauthorizedError: failing_with(HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": "Bearer"}),
            ForbiddenError: failing_with(HTTPStatus.FORBIDDEN),
            TooLargeError: failing_with(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"Connection": "close"}),
            UnsupportedBodyError: failing_with(HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
            NegotiatorError: use_case_error,
            HTTPException: http_error,
            ClientDisconnect: failing_with(HTTPStatus.BAD_REQUEST),
            Exception: unexpected_error,
        },
    )


async def _live(_request: Request) -> Response:
    """Answer that the service runs, whatever the pool is like."""
    return PlainTextResponse("alive\n")


def _ready(overviews: Overviews) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers whether the service has something to show."""

    async def answer(_request: Request) -> Response:
        if overviews.shown is None:
            return PlainTextResponse("the pool has not been read yet\n", HTTPStatus.SERVICE_UNAVAILABLE)
        health = overviews.shown.overview.health
        is_standby = health is not None and health.health is Health.STANDBY
        return PlainTextResponse("standby\n" if is_standby else "ready\n")

    return answer
