"""A record of each request that was answered: for the log of the service. It has neither queries nor headers, which may have secrets."""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, TypeAlias

import attrs
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LONGEST: Final = 300  # characters of a path


_USER: Final = "user"


@attrs.frozen
class AnsweredRequest:
    """A request: its method, its path without the query, the status of its answer, and the time that this took.

    ``user`` is that of its token or session, empty without one.
    """

    method: str
    path: str
    status: int
    seconds: float
    user: str


#: Is called with each request, once it was answered.
RequestLog: TypeAlias = Callable[[AnsweredRequest], None]


def note_user(request: Request, user: str) -> None:
    """Note whose request it is, for its record."""
    setattr(request.state, _USER, user)


class AccessLog:
    """Times each request, and passes its record on."""

    def __init__(self, app: ASGIApp, answered: RequestLog) -> None:
        self.app = app
        self.answered = answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)  # of an exception that nothing here answers

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        state = scope.setdefault("state", {})
        begun = time.perf_counter()
        try:
            await self.app(scope, receive, noting)
        finally:
            seconds = time.perf_counter() - begun
            path = scope["path"][:_LONGEST]
            self.answered(AnsweredRequest(scope["method"], path, status, seconds, state.get(_USER, "")))
