"""Which page is sent for which path."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.app.overview import PoolOverview
from negotiator.queues import Queue
from negotiator.service.answers import NotFoundHereError, NotReadError
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews
from negotiator.service.pages.rendering import error_page, page, static_files
from negotiator.service.pages.views.applications import applications_page
from negotiator.service.pages.views.configuration import configuration_page
from negotiator.service.pages.views.elements import BASE
from negotiator.service.pages.views.hosts import hosts_page
from negotiator.service.pages.views.pool_now import pool_now
from negotiator.service.pages.views.queue_pages import queue_page, queue_tree
from negotiator.service.pages.views.usage import usage_page

#: Returns a page of an overview; the text is why the pool cannot be read now.
Page: TypeAlias = Callable[[PoolOverview, Request, str], bytes]

_HTML: Final = "text/html; charset=utf-8"
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_SECONDS_OF_FILES: Final = 365 * 86400  # their address changes with their content


class PageHeaders:
    """Adds the headers that restrict what a browser does with a page, to every answer below the path of the pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        path = scope.get("path", "")
        is_page = path == BASE or path.startswith(f"{BASE}/")
        await self.app(scope, receive, send_with_headers if is_page else send)


def page_routes(overviews: Overviews, callers: Callers) -> list[Route]:
    """Return the routes of all pages.

    A page without a query is made once for each overview.
    """

    def route(path: str, make: Page) -> Route:
        def answer(request: Request) -> Response:
            callers.check_reader(request)
            try:
                return Response(_body(overviews, request, make), headers=_no_store(), media_type=_HTML)
            except NotFoundHereError as error:
                return _error(HTTPStatus.NOT_FOUND, str(error))
            except NotReadError as error:
                return _error(HTTPStatus.SERVICE_UNAVAILABLE, str(error))

        return Route(f"{BASE}{path}", answer, methods=["GET"])

    def file(request: Request) -> Response:
        callers.check_reader(request)
        found = static_files().get(request.path_params["name"])
        if found is None:
            return _error(HTTPStatus.NOT_FOUND, "There is no such file.")
        headers = {"Cache-Control": f"private, max-age={_SECONDS_OF_FILES}, immutable"}
        return Response(found.content, headers=headers, media_type=found.media_type)

    return [
        route("", _pool_now),
        route("/queues", _queues),
        route("/queues/{path:path}", _queue),
        route("/usage", _usage),
        route("/hosts", _hosts),
        route("/applications", _applications),
        route("/configuration", _configuration),
        Route(f"{BASE}/static/{{name}}", file, methods=["GET"]),
        route("/{rest:path}", _nothing),
    ]


def to_pages(_request: Request) -> Response:
    """Lead from the root to the pages."""
    return RedirectResponse(BASE)


def _body(overviews: Overviews, request: Request, make: Page) -> bytes:
    shown, failure = overviews.shown, overviews.failure
    if shown is None:
        raise NotReadError(failure or "The pool has not been read yet.")
    if failure or request.url.query:
        return make(shown.overview, request, failure)
    return shown.answer(request.url.path, lambda: make(shown.overview, request, failure))


def _no_store() -> dict[str, str]:
    return {"Cache-Control": "no-store"}


def _error(status: HTTPStatus, text: str) -> Response:
    return Response(error_page(status, text), status, headers=_no_store(), media_type=_HTML)


def _pool_now(overview: PoolOverview, _request: Request, failure: str) -> bytes:
    return page("pool.html", "Pool now", BASE, pool_now(overview, failure), overview, failure)


def _queues(overview: PoolOverview, _request: Request, failure: str) -> bytes:
    return page("queues.html", "Queues", f"{BASE}/queues", queue_tree(overview), overview, failure)


def _queue(overview: PoolOverview, request: Request, failure: str) -> bytes:
    queue: Queue | None = overview.contents.queues.get(request.path_params["path"])
    if queue is None or queue.path != request.path_params["path"]:
        raise NotFoundHereError("There is no such queue.")
    view = queue_page(overview, queue)
    return page("queue.html", view.path, f"{BASE}/queues", view, overview, failure)


def _usage(overview: PoolOverview, _request: Request, failure: str) -> bytes:
    return page("usage.html", "Users and groups", f"{BASE}/usage", usage_page(overview), overview, failure)


def _hosts(overview: PoolOverview, request: Request, failure: str) -> bytes:
    view = hosts_page(overview, _given(request, "name"))
    return page("hosts.html", "Machines", f"{BASE}/hosts", view, overview, failure)


def _applications(overview: PoolOverview, request: Request, failure: str) -> bytes:
    view = applications_page(overview, _given(request, "user"), _given(request, "queue"))
    return page("applications.html", "Applications", f"{BASE}/applications", view, overview, failure)


def _configuration(overview: PoolOverview, _request: Request, failure: str) -> bytes:
    view = configuration_page(overview)
    return page("configuration.html", "Configuration", f"{BASE}/configuration", view, overview, failure)


def _nothing(_overview: PoolOverview, _request: Request, _failure: str) -> bytes:
    raise NotFoundHereError("There is no such page.")


def _given(request: Request, name: str) -> str:
    values: Any = request.query_params
    return str(values.get(name, ""))
