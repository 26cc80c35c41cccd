"""The pages that say why jobs get no slot, or a slot no job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.why.answer import WhyAnswer
from negotiator.app.why.idle import IdleBy, selected
from negotiator.app.why.subject import WhyKind
from negotiator.errors import InvalidCallError, NegotiatorError
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.rendering import HtmlPage
from negotiator.service.pages.views.elements import BASE
from negotiator.service.pages.views.why import idle_view, why_view

_TITLE: Final = "Why"
_OF_IDLE: Final = "Idle jobs"


@attrs.frozen(eq=False)
class WhyPages:
    """Answers questions one at a time, in a thread of their own: readers of other pages do not wait for them."""

    pages: Pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [self.pages.slow_route("/why", self._answer), self.pages.slow_route("/idle", self._idle)]

    def _answer(self, request: Request) -> Response:
        self.pages.callers.check_reader(request)
        given, found, failure = dict(request.query_params), None, ""
        try:
            found = self._found(given)
        except NegotiatorError as error:  # the form is shown in any case
            failure = str(error)
        view = why_view(given, found, failure)
        return self.pages.send(request, HtmlPage("why.html", _TITLE, f"{BASE}/why", view))

    def _idle(self, request: Request) -> Response:
        self.pages.callers.check_reader(request)
        given, found, failure = dict(request.query_params), None, ""
        by = IdleBy(given["by"]) if given.get("by") in set(IdleBy) else IdleBy.REASON
        try:
            report = self.pages.overviews.present.explanations.idle()
            found = selected(report, *(given.get(each, "").strip() for each in (WhyKind.USER, WhyKind.QUEUE)))
        except NegotiatorError as error:  # the form is shown in any case
            failure = str(error)
        view = idle_view(given, by, found, failure)
        return self.pages.send(request, HtmlPage("idle.html", _OF_IDLE, f"{BASE}/idle", view))

    def _found(self, given: Mapping[str, str]) -> WhyAnswer | None:
        chosen = [(kind, given[kind].strip()) for kind in WhyKind if given.get(kind, "").strip()]
        if not chosen:
            return None
        if len(chosen) > 1:
            raise InvalidCallError(f"name one of {', '.join(kind for kind, _ in chosen)}, not several")
        return self.pages.overviews.present.explanations.why(*chosen[0])
