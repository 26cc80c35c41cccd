"""Answers in JSON, and errors in the shape of YuniKorn's REST interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from negotiator.app.status import status_of
from negotiator.errors import NegotiatorError
from negotiator.pool.secrets import redact

#: Answers a request that an exception ended.
ErrorHandler: TypeAlias = Callable[[Request, Exception], Response]

JSON: Final = "application/json"


def encoded(values: Any) -> bytes:
    """Return values as JSON; lone surrogates of names that are not Unicode are escaped."""
    return json.dumps(values, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def json_answer(body: bytes, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """Return an answer of encoded JSON."""
    return Response(body, status, media_type=JSON, headers={"Cache-Control": "no-store"})


def error_answer(status: HTTPStatus, description: str) -> Response:
    """Return an error: ``status_code``, ``message`` and ``description``."""
    values = {"status_code": int(status), "message": description, "description": description}
    return json_answer(encoded(values), status)


class NotFoundHereError(Exception):
    """Something that a path names is not there."""


class InvalidNameError(Exception):
    """A path has a name that nothing can have."""


class NotReadError(Exception):
    """The pool has not been read yet."""


def failing_with(status: HTTPStatus, headers: Mapping[str, str] | None = None) -> ErrorHandler:
    """Return the handler of an exception whose text is for the client."""

    def handle(_request: Request, error: Exception) -> Response:
        answer = error_answer(status, str(error))
        answer.headers.update(headers or {})
        return answer

    return handle


def http_error(_request: Request, error: Exception) -> Response:
    """Answer an unknown path (404) or a wrong method (405)."""
    status = HTTPStatus(getattr(error, "status_code", HTTPStatus.NOT_FOUND))
    answer = error_answer(status, status.phrase)
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


def use_case_error(_request: Request, error: Exception) -> Response:
    """Answer with the error of a use case."""
    if not isinstance(error, NegotiatorError):
        return unexpected_error(_request, error)
    return error_answer(status_of(error).http, redact(str(error)))


def unexpected_error(_request: Request, _error: Exception) -> Response:
    """Answer a request that failed by a mistake of ours: nothing of it is shown."""
    return error_answer(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error; the log of the service has it")
