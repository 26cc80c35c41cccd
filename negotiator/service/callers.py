"""Who sends a request: the user of its token, or of the session that a browser began with one."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs
from starlette.requests import Request
from starlette.responses import Response

from negotiator.app.token_roles import Role
from negotiator.app.tokens import AccessTokens, TokenEntry, read_tokens
from negotiator.service.access_log import note_user
from negotiator.service.sessions import FailedLogins, Sessions

_SCHEME: Final = "bearer"


class UnauthorizedError(Exception):
    """A request without a valid token, where one is needed."""


class ForbiddenError(Exception):
    """A request that the role of its token does not permit, or that a page of another site may have sent."""


class TooManyAttemptsError(Exception):
    """Too many wrong tokens from one address; ``wait`` is in seconds."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"too many wrong tokens came from this address: try again in {wait:.0f} s")
        self.wait = wait


@attrs.frozen
class LoggedIn:
    """The user of a session: the entry of the token, and the value that every form of the session has to send."""

    entry: TokenEntry
    form_value: str = attrs.field(repr=False)

    @property
    def is_administrator(self) -> bool:
        """True if the role of the token includes that of a scheduler administrator."""
        return self.entry.role.includes(Role.SCHEDULER_ADMINISTRATOR)


@attrs.define(eq=False)
class Callers:
    """Finds the users of requests by the tokens of a file, which is read again when it has changed.

    ``tokens`` None: nobody has a token. ``open_to_all``: reading needs none.
    """

    tokens: Path | None = None
    open_to_all: bool = True
    clock: Callable[[], float] = time.time
    _known: tuple[object, AccessTokens] | None = attrs.field(default=None, init=False, repr=False)
    _sessions: Sessions = attrs.field(factory=Sessions, init=False)
    _failed: FailedLogins = attrs.field(factory=FailedLogins, init=False)

    def check_reader(self, request: Request) -> TokenEntry | None:
        """Return whose token or session a request to read has; None if it has none and reading is open to all.

        :raises UnauthorizedError: it needs a token and has none, or its token is unknown or has ended.
        :raises CommandError, UntrustedError: the file of tokens cannot be used.
        """
        if "authorization" in request.headers:
            return self.require(request, Role.VIEWER)
        found = self.logged_in(request)
        if found is None and not self.open_to_all:
            return self.require(request, Role.VIEWER)
        return found.entry if found else None

    def require_reader(self, request: Request, role: Role) -> TokenEntry:
        """Return whose token or session a request to read has, where reading needs a role also on this host.

        :raises UnauthorizedError: it has none, or its token is unknown or has ended.
        :raises ForbiddenError: the role of its token does not include ``role``.
        """
        found = self.check_reader(request)
        if found is None:
            raise UnauthorizedError("Log in to see this.")
        return _with_role(found, role)

    def require(self, request: Request, role: Role) -> TokenEntry:
        """Return whose token a request has. The cookie of a session does not count: browsers add it to every request.

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
        note_user(request, found.user)
        return _with_role(found, role)

    def logged_in(self, request: Request) -> LoggedIn | None:
        """Return whose session a request belongs to; None if there is none, or its token has ended.

        :raises CommandError, UntrustedError: the file of tokens cannot be used.
        """
        name = request.cookies.get(_cookie(request))
        session = self._sessions.find(name, self.clock()) if name else None
        if session is None:
            return None
        entry = self._tokens().valid(session.token, self.clock())
        if entry is None:
            return None
        note_user(request, entry.user)
        return LoggedIn(entry, session.form_value)

    def log_in(self, request: Request, token: str) -> Callable[[Response], None]:
        """Begin a session, which ends the one that the request belongs to; return what adds its cookie to an answer.

        :raises UnauthorizedError: the token is unknown or has ended.
        :raises TooManyAttemptsError: too many wrong ones came from this address.
        :raises CommandError, UntrustedError: the file of tokens cannot be used.
        """
        now = self.clock()
        address = request.client.host if request.client else ""
        if wait := self._failed.wait(address, now):
            raise TooManyAttemptsError(wait)
        entry = self._tokens().identify(token, now)
        if entry is None:
            self._failed.add(address, now)
            raise UnauthorizedError("The token is unknown, or has ended.")
        self._end(request)
        name = self._sessions.begin(entry.sha256.text.lower(), now)
        return lambda answer: _set_cookie(request, answer, name)

    def log_out(self, request: Request, answer: Response) -> None:
        """End the session of a request, and its cookie."""
        self._end(request)
        _set_cookie(request, answer, "")

    def _end(self, request: Request) -> None:
        if name := request.cookies.get(_cookie(request)):
            self._sessions.end(name)

    def check_form(self, request: Request, form_value: str) -> LoggedIn | None:
        """Check that a page of this service sent a form; return whose session it belongs to, None without one.

        :param form_value: the value that the form has sent; only a session has one.
        :raises ForbiddenError: a page of another site may have sent it, or a page of a session that has ended.
        """
        check_origin(request)
        found = self.logged_in(request)
        if found is not None and not hmac.compare_digest(found.form_value.encode(), form_value.encode()):
            raise ForbiddenError("The form is older than this session: load its page again.")
        return found

    def require_form(self, request: Request, form_value: str, role: Role) -> TokenEntry:
        """Return who sent a form.

        :raises UnauthorizedError: nobody who is logged in.
        :raises ForbiddenError: as ``check_form``, or the role of the token does not include ``role``.
        """
        found = self.check_form(request, form_value)
        if found is None:
            raise UnauthorizedError("Log in to do this.")
        return _with_role(found.entry, role)

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


def _with_role(entry: TokenEntry, role: Role) -> TokenEntry:
    if not entry.role.includes(role):
        raise ForbiddenError(f"the token of {entry.user} has the role {entry.role}; this needs {role}")
    return entry


def _cookie(request: Request) -> str:
    """Return the name of the cookie: browsers send the cookies of all ports of a host to each of them."""
    port = request.headers.get("host", "").rpartition(":")[2]
    name = f"negotiator-{port if port.isdecimal() and port.isascii() else 'session'}"
    return f"__Host-{name}" if _is_encrypted(request) else name


def _is_encrypted(request: Request) -> bool:
    return bool(request.scope["scheme"] == "https")


def _set_cookie(request: Request, answer: Response, value: str) -> None:
    answer.set_cookie(
        _cookie(request),
        value,
        max_age=None if value else 0,
        path="/",
        secure=_is_encrypted(request),
        httponly=True,
        samesite="strict",
    )


def check_origin(request: Request) -> None:
    """Check that a page of this service sent a form; browsers without Sec-Fetch-Site send Origin.

    :raises ForbiddenError: a page of another site did, or the browser does not name the page.
    """
    site = request.headers.get("sec-fetch-site")
    _, _, host = request.headers.get("origin", "").partition("://")
    if site is None:
        is_from_here = bool(host) and host == request.headers.get("host")
    else:
        is_from_here = site == "same-origin"
    if not is_from_here:
        raise ForbiddenError("The form was not sent by a page of this service.")
