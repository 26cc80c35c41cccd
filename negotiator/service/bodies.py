"""The bodies of requests."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

_MOST_READ: Final = 16  # times the bytes that are accepted


class TooLargeError(Exception):
    """A body of more bytes than are accepted."""


class UnsupportedBodyError(Exception):
    """A body of another type than is accepted."""


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
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != "application/json":
        raise UnsupportedBodyError("send JSON: Content-Type: application/json")
    return await read_body(request, largest)
