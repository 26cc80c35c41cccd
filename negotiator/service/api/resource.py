"""What a resource of the interface is: its path, its parameters and its answer, each with a type.

A type of parameters is a class of attrs whose fields are those that ``{}`` in the path names, and those of the query. A field
is described by ``msgspec.Meta``, from which come the checks of a request and the schema in the OpenAPI document.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final, Generic, TypeVar

import attrs
import msgspec
from msgspec import Meta
from starlette.requests import Request

from negotiator.app.overview import PoolOverview
from negotiator.app.token_roles import Role
from negotiator.app.tokens import TokenEntry
from negotiator.errors import InvalidCallError
from negotiator.service.overviews import Overviews

#: Where msgspec's messages name the value.
_WHERE: Final = re.compile(r" - at `\$\.?([^`]*)`$")

T = TypeVar("T")
BASE: Final = "/api/v1"
#: Characters of a name in a request.
LONGEST_NAME: Final = 1000
_MOST_ROWS: Final = 1000
_NAMES: Final = re.compile(r"\{(\w+)\}")
P = TypeVar("P")


def read_parameters(request: Request, expected: type[T]) -> T:
    """Return the parameters of the path and the query.

    :raises InvalidCallError: one is unknown, repeated, missing or invalid; the message names it.
    """
    given = dict[str, str](request.path_params)
    for name, value in request.query_params.multi_items():
        if name in given:
            raise InvalidCallError(f"parameter {name[:80]!r} is repeated")
        given[name] = value
    return _converted(given, expected, "parameter", strict=False)


def parse_body(content: bytes, expected: type[T]) -> T:
    """Return the values of a body.

    :raises InvalidCallError: it is not JSON, or a value is unknown, missing or invalid; the message names it.
    """
    try:
        given = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidCallError(f"the body is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise InvalidCallError("the body must be a JSON object")
    return _converted(given, expected, "key", strict=True)


def _converted(given: Mapping[str, Any], expected: type[T], what: str, *, strict: bool) -> T:
    fields = attrs.fields_dict(expected)  # type: ignore[arg-type]  # a class of attrs
    for name in given:
        if name not in fields:
            known = f"known: {', '.join(fields)}" if fields else "none is known here"
            raise InvalidCallError(f"unknown {what} {name[:80]!r} ({known})")
    try:
        found = msgspec.convert(given, expected, strict=strict)
    except msgspec.ValidationError as error:
        text = str(error)
        where = _WHERE.search(text)
        name = f" {where[1]}" if where and where[1] else ""
        raise InvalidCallError(f"{what}{name}: {_WHERE.sub('', text)}") from None
    for name in given:
        if getattr(found, name) is None:  # the text null
            raise InvalidCallError(f"{what} {name}: a value is expected")
    return found


@attrs.frozen
class Nothing:
    """No parameters."""


class SlowAnswers(enum.IntEnum):
    """How many answers are made at the same time, of those that may take seconds."""

    SEARCH = 2  # in the audit log
    EXPLAIN = 1


@attrs.frozen
class Page:
    """Which rows of a list an answer has."""

    offset: Annotated[int, Meta(ge=0, le=2**31, description="Rows that are left out at the beginning.")] = 0
    rows: Annotated[int, Meta(ge=0, le=_MOST_ROWS, description="The most rows of the answer.")] = 100

    def of(self, found: Sequence[P]) -> tuple[P, ...]:
        """Return the rows of this page."""
        return tuple(found[self.offset : self.offset + self.rows])


@attrs.frozen(eq=False)
class ApiRequest(Generic[P]):
    """A request: its parameters, its body if the resource has one, and whose token it has, None without one."""

    overviews: Overviews
    caller: TokenEntry | None
    given: P
    body: Any = None

    @property
    def overview(self) -> PoolOverview:
        """The pool as it was read last; :raises NotReadError: it has not been read yet."""
        return self.overviews.present.overview


def _ok(_answer: object) -> HTTPStatus:
    return HTTPStatus.OK


@attrs.frozen(kw_only=True, eq=False)
class Resource:
    """A method of a path below ``BASE``, and what answers it.

    :param answers: the type of what ``answer`` returns, in JSON.
    :param role: what a token must permit; readers may need no token.
    :param body: the type of the body, a class of attrs; None for none.
    :param status: returns the HTTP status of an answer.
    :param statuses: what further statuses mean, of answers and of errors.
    :param of_pool: its answer depends on the pool as it was read last and on the parameters only: without any it is made once.
    :param slow: its answers may take seconds: few of this kind are made at the same time.
    :param texts: functions that make the answer in other media types, for requests that prefer one.
    """

    path: str
    summary: str
    answers: Any
    answer: Callable[[ApiRequest[Any]], Any]
    method: str = "GET"
    parameters: type[Any] = Nothing
    role: Role = Role.VIEWER
    body: type[Any] | None = None
    status: Callable[[Any], HTTPStatus] = _ok
    statuses: Mapping[HTTPStatus, str] = attrs.field(factory=dict)
    of_pool: bool = False
    slow: SlowAnswers | None = None
    texts: Mapping[str, Callable[[ApiRequest[Any]], str]] = attrs.field(factory=dict)

    @property
    def path_names(self) -> tuple[str, ...]:
        """The names of the parameters in the path."""
        return tuple(_NAMES.findall(self.path))
