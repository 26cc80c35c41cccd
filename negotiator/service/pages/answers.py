"""Answers with pages: what is made of an overview, what forms do, errors, and the headers that restrict what a browser does with a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Final, TypeAlias
from urllib.parse import quote

import attrs
from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from negotiator.app.overview import PoolOverview
from negotiator.app.status import status_of
from negotiator.app.token_roles import Role
from negotiator.errors import NegotiatorError
from negotiator.service.answers import NotFoundHereError, NotReadError
from negotiator.service.bodies import InvalidFormError, TooLargeError, UnsupportedBodyError, read_form
from negotiator.service.callers import Callers, ForbiddenError, TooManyAttemptsError, UnauthorizedError
from negotiator.service.overviews import Overviews
from negotiator.service.pages.rendering import LOGIN, HtmlPage, Visitor, rendered
from negotiator.service.pages.views.elements import BASE, message
from negotiator.service.pages.views.login import login_page

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without any, browsers send forms with the origin null
}
_HTML: Final = "text/html; charset=utf-8"
_ERRORS: Final[Mapping[type[Exception], HTTPStatus]] = {
    NotFoundHereError: HTTPStatus.NOT_FOUND,
    NotReadError: HTTPStatus.SERVICE_UNAVAILABLE,
    ForbiddenError: HTTPStatus.FORBIDDEN,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    UnsupportedBodyError: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    InvalidFormError: HTTPStatus.BAD_REQUEST,
    TooManyAttemptsError: HTTPStatus.TOO_MANY_REQUESTS,
}
_ANSWERED: Final[tuple[type[Exception], ...]] = (NegotiatorError, *_ERRORS)


class PageHeaders:
    """Adds the headers to every answer below the path of the pages."""

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


#: Returns the page of an overview; the text is why the pool cannot be read now.
OfOverview: TypeAlias = Callable[[PoolOverview, Request, str], HtmlPage]
#: Answers a request.
Answer: TypeAlias = Callable[[Request], Response]
#: Answers a form, whose fields are the second argument.
FormAnswer: TypeAlias = Callable[[Request, Mapping[str, str]], Response]


@attrs.frozen(eq=False)
class Pages:
    """Makes the answers of all pages."""

    overviews: Overviews
    callers: Callers

    def of_overview(self, path: str, make: OfOverview, role: Role | None = None) -> Route:
        """Return the route of a page for readers. Without a query it is made once for each overview and user.

        :param role: which role they need, also on this host; None: as any reader.
        """

        def answer(request: Request) -> Response:
            if role is None:
                self.callers.check_reader(request)
            else:
                self.callers.require_reader(request, role)
            visitor, failure = self._visitor(request), self.overviews.failure
            shown = self.overviews.shown
            if shown is None:
                raise NotReadError(failure or "The pool has not been read yet.")

            def body() -> bytes:
                return rendered(make(shown.overview, request, failure), visitor, shown.overview, failure)

            is_kept = not failure and not request.scope["query_string"]
            key = f"{request.scope['path']}\n{visitor}"
            return shown.answers.get(key, body).response(request, _HTML) if is_kept else _html(body())

        return self.route(path, answer)

    def route(self, path: str, answer: Answer) -> Route:
        """Return the route of a page; ``answer`` checks who sends the request."""
        return Route(f"{BASE}{path}", partial(self._guarded, answer), methods=["GET"])

    def slow_route(self, path: str, answer: Answer) -> Route:
        """Return the route of a page that may take seconds: one at a time is made, while others wait without a thread."""
        limiter = CapacityLimiter(1)

        async def send(request: Request) -> Response:
            return await to_thread.run_sync(self._guarded, answer, request, limiter=limiter)

        return Route(f"{BASE}{path}", send, methods=["GET"])

    def form(self, path: str, answer: FormAnswer, largest: int) -> Route:
        """Return the route of a form of at most so many bytes; ``answer`` checks who sent it."""

        async def send(request: Request) -> Response:
            try:
                fields = await read_form(request, largest)
            except _ANSWERED as error:
                return self._error(request, error)
            return await run_in_threadpool(self._guarded, lambda each: answer(each, fields), request)

        return Route(f"{BASE}{path}", send, methods=["POST"])

    def send(self, request: Request, page: HtmlPage, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """Return an answer with a page for readers that is not kept."""
        shown = self.overviews.shown
        overview = None if shown is None else shown.overview
        return _html(rendered(page, self._visitor(request), overview, self.overviews.failure), status)

    def send_alone(self, request: Request, page: HtmlPage, status: HTTPStatus = HTTPStatus.OK) -> Response:
        """Return an answer with a page for everybody: it has nothing of the pool."""
        return _html(rendered(page, self._visitor(request), None, ""), status)

    def login(self, request: Request, back: str, failure: str = "") -> Response:
        """Return the page to log in with, where somebody has to; it leads to ``back``."""
        view = login_page(back, None, failure, can_log_in=self.callers.tokens is not None)
        page = HtmlPage("login.html", LOGIN.text, LOGIN.href, view)
        answer = self.send_alone(request, page, HTTPStatus.UNAUTHORIZED)
        answer.headers["WWW-Authenticate"] = "Bearer"
        return answer

    def _visitor(self, request: Request) -> Visitor:
        """Return who is logged in; nobody while the tokens cannot be used."""
        try:
            found = self.callers.logged_in(request)
        except NegotiatorError:
            found = None
        can_log_in = self.callers.tokens is not None
        if found is None:
            return Visitor("", can_log_in)
        return Visitor(message(found.entry.user), can_log_in, is_administrator=found.is_administrator)

    def _guarded(self, answer: Answer, request: Request) -> Response:
        """Return an answer, or the page of an error."""
        try:
            return answer(request)
        except UnauthorizedError as error:
            query = request.scope["query_string"].decode("latin-1")
            back = quote(request.scope["path"], safe="/%") + (f"?{query}" if query else "")
            return self.login(request, back, str(error) if "authorization" in request.headers else "")
        except _ANSWERED as error:
            return self._error(request, error)

    def _error(self, request: Request, error: Exception) -> Response:
        status = status_of(error).http if isinstance(error, NegotiatorError) else _ERRORS[type(error)]
        page = HtmlPage("error.html", status.phrase, "", message(str(error)))
        answer = self.send_alone(request, page, status)
        if isinstance(error, TooManyAttemptsError):
            answer.headers["Retry-After"] = f"{error.wait:.0f}"
        if isinstance(error, TooLargeError):
            answer.headers["Connection"] = "close"
        return answer


def _html(body: bytes, status: HTTPStatus = HTTPStatus.OK) -> Response:
    return Response(body, status, headers={"Cache-Control": "no-store"}, media_type=_HTML)
