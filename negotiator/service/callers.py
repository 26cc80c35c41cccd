"""Who sends a request: the user of its token."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import attrs
from starlette.requests import Request

from negotiator.app.token_roles import Role
from negotiator.app.tokens import AccessTokens, TokenEntry, read_tokens

_SCHEME = "bearer"


class UnauthorizedError(Exception):
    """A request without a valid token, where one is needed."""


class ForbiddenError(Exception):
    """A request that the role of its token does not permit."""


@attrs.define(eq=False)
class Callers:
    """Finds the users of requests by the tokens of a file, which is read again when it has changed.

    ``tokens`` None: nobody has a token. ``open_to_all``: reading needs none.
    """

    tokens: Path | None = None
    open_to_all: bool = True
    clock: Callable[[], float] = time.time
    _known: tuple[object, AccessTokens] | None = attrs.field(default=None, init=False, repr=False)

    def check_reader(self, request: Request) -> TokenEntry | None:
        """Return whose token a request to read has; None if it has none and reading is open to all.

        :raises UnauthorizedError: it needs a token and has none, or its token is unknown or has ended.
        :raises CommandError, UntrustedError: the file of tokens cannot be used.
        """
        if "authorization" in request.headers or not self.open_to_all:
            return self.require(request, Role.VIEWER)
        return None

    def require(self, request: Request, role: Role) -> TokenEntry:
        """Return whose token a request has.

        :raises UnauthorizedError: it has none, or its token is unknown or has ended.
        :raises ForbiddenError: the role of its token does not include ``role``.
        :raises CommandError, UntrustedError: the file of tokens cannot be used.
        """
        given = request.headers.get("authorization")
        if given is None:
            raise UnauthorizedError("send a token: Authorization: Bearer TOKEN")
        scheme, _, token = given.partition(" ")
        found = self._tokens().identify(token.strip(), self.clock()) if scheme.lower() == _SCHEME else None
        if found is None:
            raise UnauthorizedError("the token is unknown, or has ended")
        if not found.role.includes(role):
            raise ForbiddenError(f"the token of {found.user} has the role {found.role}; this needs {role}")
        return found

    def _tokens(self) -> AccessTokens:
        if self.tokens is None:
            return AccessTokens()
        try:
            status = self.tokens.stat()
            seen: object = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            seen = None
        if self._known is None or self._known[0] != seen:
            self._known = seen, read_tokens(self.tokens)
        return self._known[1]
