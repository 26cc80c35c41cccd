"""The pages of the last cycles: they are read from the state for each request, since they change with each cycle."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeAlias

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.cycles import CycleHistory, last_cycles
from negotiator.app.overview import PoolOverview
from negotiator.bundle.rules import BundleRule, bundle_rules
from negotiator.service.answers import NotReadError
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.rendering import HtmlPage
from negotiator.service.pages.views.cycles import cycles_view
from negotiator.service.pages.views.elements import BASE
from negotiator.service.pages.views.fair_shares import shares_view
from negotiator.service.pages.views.plugins import plugins_view
from negotiator.service.pages.views.policies import policies_view

#: Returns what a page shows of the last cycles and the pool of now; None if nothing is known of a cycle.
_View: TypeAlias = Callable[[CycleHistory, PoolOverview], object]

_NOTHING: Final = CycleHistory()


@attrs.frozen(eq=False)
class CyclePages:
    """Answers with the pages of the last cycles."""

    pages: Pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            self._route("cycles", "Cycles", lambda history, _: cycles_view(history)),
            self._route("policies", "Policies", _policies),
            self._route("shares", "Shares", _shares),
            self._route("plugins", "Plugins", _plugins),
        ]

    def _route(self, name: str, title: str, view: _View) -> Route:
        def answer(request: Request) -> Response:
            self.pages.callers.check_reader(request)
            overviews = self.pages.overviews
            if overviews.shown is None:
                raise NotReadError(overviews.failure or "The pool has not been read yet.")
            state = overviews.targets.state
            history = _NOTHING if state is None else last_cycles(state)
            made = view(history, overviews.shown.overview)
            return self.pages.send(request, HtmlPage(f"{name}.html", title, f"{BASE}/{name}", made))

        return self.pages.route(f"/{name}", answer)


def _policies(history: CycleHistory, overview: PoolOverview) -> object:
    if history.last is None:
        return None
    number = history.last.number
    of_cycle = next((each.bundle for each in reversed(history.cycles) if each.number == number), "")
    bundle = overview.bundle
    return policies_view(history, of_cycle, bundle.digest, bundle.files, _rules(overview))


def _shares(history: CycleHistory, overview: PoolOverview) -> object:
    if history.last is None:
        return None
    return shares_view(history.last, {queue.path for queue in overview.contents.queues})


def _plugins(history: CycleHistory, overview: PoolOverview) -> object:
    return plugins_view(history.last, overview.bundle.hooks.plugins)


@lru_cache(1)
def _rules(overview: PoolOverview) -> tuple[BundleRule, ...]:
    """Return the rules of the bundle, which are the same while the overview is."""
    return bundle_rules(overview.bundle).rules
