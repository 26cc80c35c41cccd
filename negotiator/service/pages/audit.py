"""The pages that search the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.decisions import decision_page
from negotiator.app.overview import PoolOverview
from negotiator.app.token_roles import Role
from negotiator.errors import NegotiatorError
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.rendering import HtmlPage
from negotiator.service.pages.views.audit import InvalidTimeError, audit_query, audit_view
from negotiator.service.pages.views.decisions import decisions_view
from negotiator.service.pages.views.elements import BASE

_MOST: Final = 100  # records of a page
_Found = TypeVar("_Found")


@attrs.frozen(eq=False)
class AuditPages:
    """Answers what is searched in the audit log."""

    pages: Pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            # The files of the log are not open to everybody on this host either.
            self._route("audit", "Audit log", Role.QUEUE_ADMINISTRATOR, audit_page, audit_view),
            self._route("decisions", "Decisions", Role.VIEWER, decision_page, decisions_view),
        ]

    def _route(
        self,
        name: str,
        title: str,
        role: Role,
        search: Callable[[Path, AuditQuery, int], _Found],
        view: Callable[[Mapping[str, str], _Found | None, str, PoolOverview | None], object],
    ) -> Route:
        """Return the route of a page.

        :param role: that somebody needs; viewers are all who may read.
        :param view: returns what is shown: of the fields of the form, what was found, why nothing was, and the overview.
        """

        def answer(request: Request) -> Response:
            if role is Role.VIEWER:
                self.pages.callers.check_reader(request)
            else:
                self.pages.callers.require_reader(request, role)
            given, found, failure = dict(request.query_params), None, ""
            try:
                found = search(self.pages.overviews.targets.audit_log, audit_query(given), _MOST)
            except (InvalidTimeError, NegotiatorError) as error:  # the form is shown in any case
                failure = str(error)
            shown = self.pages.overviews.shown
            made = view(given, found, failure, None if shown is None else shown.overview)
            return self.pages.send(request, HtmlPage(f"{name}.html", title, f"{BASE}/{name}", made))

        return self.pages.route(f"/{name}", answer)
