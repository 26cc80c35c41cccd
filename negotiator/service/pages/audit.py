"""The pages that search the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.audit import AuditPage, AuditQuery, audit_page
from negotiator.app.overview import PoolOverview
from negotiator.errors import NegotiatorError
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.rendering import HtmlPage
from negotiator.service.pages.views.audit import InvalidTimeError, audit_query, audit_view
from negotiator.service.pages.views.decisions import decisions_view
from negotiator.service.pages.views.elements import BASE

_MOST: Final = 100  # records of a page
_DECISIONS: Final = frozenset({"match", "denial"})
#: Returns a view: of the fields of the form, the records, the failure, and the overview.
_View: TypeAlias = Callable[[Mapping[str, str], AuditPage | None, str, PoolOverview | None], object]


@attrs.frozen(eq=False)
class AuditPages:
    """Answers what is searched in the audit log."""

    pages: Pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [self.pages.route("/audit", self._audit), self.pages.route("/decisions", self._decisions)]

    def _audit(self, request: Request) -> Response:
        return self._answer(request, "audit", "Audit log", audit_view)

    def _decisions(self, request: Request) -> Response:
        return self._answer(request, "decisions", "Decisions", decisions_view, _DECISIONS)

    def _answer(
        self, request: Request, name: str, title: str, view: _View, kinds: frozenset[str] | None = None
    ) -> Response:
        self.pages.callers.check_reader(request)
        given = dict(request.query_params)
        found, failure = self._found(given, kinds)
        shown = self.pages.overviews.shown
        made = view(given, found, failure, None if shown is None else shown.overview)
        return self.pages.send(request, HtmlPage(f"{name}.html", title, f"{BASE}/{name}", made))

    def _found(self, given: Mapping[str, str], kinds: frozenset[str] | None) -> tuple[AuditPage | None, str]:
        """Return the records, or why there are none: the form is shown in any case."""
        folder = self.pages.overviews.targets.audit_log
        try:
            query = audit_query(given)
            wanted: AuditQuery = query if kinds is None else attrs.evolve(query, kinds=kinds)
            return audit_page(folder, wanted, _MOST), ""
        except (InvalidTimeError, NegotiatorError) as error:
            return None, str(error)
