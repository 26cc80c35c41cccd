"""Logging in with a token, and out."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import attrs
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.service.callers import UnauthorizedError, check_origin
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.rendering import LOGIN, HtmlPage
from negotiator.service.pages.views.login import BACK, FORM_VALUE, TOKEN, login_page, page_address

_LARGEST: Final = 16 * 1024  # bytes of a form


@attrs.frozen(eq=False)
class Login:
    """Answers the forms of the login."""

    pages: Pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            self.pages.route("/login", self._page),
            self.pages.form("/login", self._log_in, _LARGEST),
            self.pages.form("/logout", self._log_out, _LARGEST),
        ]

    def _page(self, request: Request) -> Response:
        found = self.pages.callers.logged_in(request)
        view = login_page("", found, can_log_in=self.pages.callers.tokens is not None)
        return self.pages.send_alone(request, HtmlPage("login.html", LOGIN.text, LOGIN.href, view))

    def _log_in(self, request: Request, fields: Mapping[str, str]) -> Response:
        callers = self.pages.callers
        check_origin(request)
        back = fields.get(BACK, "")
        try:
            add_cookie = callers.log_in(request, fields.get(TOKEN, "").strip())
        except UnauthorizedError as error:
            return self.pages.login(request, back, str(error))
        answer = _leading_to(page_address(back))
        add_cookie(answer)
        return answer

    def _log_out(self, request: Request, fields: Mapping[str, str]) -> Response:
        self.pages.callers.check_form(request, fields.get(FORM_VALUE, ""))
        answer = _leading_to(LOGIN.href)
        self.pages.callers.log_out(request, answer)
        return answer


def _leading_to(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER, headers={"Cache-Control": "no-store"})
