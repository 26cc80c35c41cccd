"""Names in paths of requests: a name may have any character, also a slash, if the client escapes it.

A server decodes a path before it is compared with routes, and then an escaped slash looks like one that separates names. So
``EscapedNames`` leaves escaped slashes and percent signs as they are, and the types ``name`` and ``names`` of parameters decode
them. Some clients escape twice: YuniKorn's router decodes a path once, and its handlers once more. ``named`` looks for both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import unquote

import attrs
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

T = TypeVar("T")

_KEPT: Final = re.compile(r"(%2f|%25)", re.IGNORECASE)


@attrs.frozen(eq=False)
class EscapedNames:
    """Middleware: the path of a request is decoded, but for escaped slashes and percent signs."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            raw = scope.get("raw_path", b"").partition(b"?")[0].decode("ascii", "replace")
            parts = _KEPT.split(raw)
            if len(parts) > 1:
                path = "".join(part.upper() if at % 2 else unquote(part) for at, part in enumerate(parts))
                scope = {**scope, "path": path}
        await self.app(scope, receive, send)


class _Name(Convertor[str]):
    """A name between two slashes."""

    regex: ClassVar[str] = "[^/]+"

    def convert(self, value: str) -> str:
        """Return the name."""
        return unquote(value)

    def to_string(self, value: str) -> str:
        """Return what a path has for a name."""
        return value.replace("%", "%25").replace("/", "%2F")


class _Names(_Name):
    """The rest of a path: a name whose slashes may be escaped or not."""

    regex: ClassVar[str] = ".*"


register_url_convertor("name", _Name())
register_url_convertor("names", _Names())


def readings(name: str) -> tuple[str, ...]:
    """Return what a parameter of a path may name: itself, and what a client escaped twice."""
    once = unquote(name)
    return (name,) if once == name else (name, once)


def named(request: Request, key: str, find: Callable[[str], T | None]) -> T | None:
    """Return what a parameter of a path names, None if there is nothing.

    :param find: returns what has a name.
    """
    names: Any = request.path_params[key]
    return next((found for name in readings(names) if (found := find(name)) is not None), None)
