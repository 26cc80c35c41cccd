"""The bodies of requests: bytes, JSON, or the fields of a form."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from starlette.requests import Request

_MOST_READ: Final = 16  # times the bytes that are accepted
_MOST_FIELDS: Final = 20  # of a form
_FORM: Final = "application/x-www-form-urlencoded"


class TooLargeError(Exception):
    """A body of more bytes than are accepted."""


class UnsupportedBodyError(Exception):
    """A body of another type than is accepted."""


class InvalidFormError(Exception):
    """The fields of a form cannot be read."""


async def read_body(request: Request, largest: int) -> bytes:
    """Return the body of a request, which may be sent in any number of pieces.

    :param largest: how many bytes are accepted.
    :raises TooLargeError: it has more. The rest is read and dropped, as far as it is not much more: a client whose connection is
        closed while it sends would not get the answer.
    """
    found, size = bytearray(), 0
    async for piece in request.stream():
        size += len(piece)
        if size <= largest:
            found += piece
        elif size > _MOST_READ * largest:
            break
    if size > largest:
        raise TooLargeError(f"the body has more than {largest} bytes")
    return bytes(found)


async def read_json_body(request: Request, largest: int) -> bytes:
    """Return a body that is declared as JSON.

    No other type is accepted, so that no form of a page of another site is.

    :raises UnsupportedBodyError: it is declared as another type.
    :raises TooLargeError: it has more than ``largest`` bytes.
    """
    if _type(request) != "application/json":
        raise UnsupportedBodyError("send JSON: Content-Type: application/json")
    return await read_body(request, largest)


async def read_form(request: Request, largest: int) -> dict[str, str]:
    """Return the fields of a form by name; of several with one name the last.

    :raises UnsupportedBodyError: the body is declared as another type.
    :raises TooLargeError: it has more than ``largest`` bytes.
    :raises InvalidFormError: it is not UTF-8, or has too many fields.
    """
    if _type(request) != _FORM:
        raise UnsupportedBodyError(f"send a form: Content-Type: {_FORM}")
    body = await read_body(request, largest)
    try:
        text = body.decode("ascii")
        return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS))
    except ValueError:  # UnicodeDecodeError is one
        raise InvalidFormError("the form is not UTF-8, or has too many fields") from None


def _type(request: Request) -> str:
    """Return the type that a body is declared as, in lower case."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()
