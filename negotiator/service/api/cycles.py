"""Resources about the last cycles of the negotiator, as it saved them."""

from __future__ import annotations

from negotiator.app.cycles import CycleDetails, CycleHistory, last_cycles
from negotiator.service.answers import NotFoundHereError
from negotiator.service.api.records import CycleList, CyclePlugins, CycleShares, PolicyEffects
from negotiator.service.api.resource import ApiRequest, Page


def cycles(request: ApiRequest[Page]) -> CycleList:
    """Return the last cycles."""
    found = list(reversed(_history(request).cycles))
    return CycleList(len(found), request.given.of(found))


def policies(request: ApiRequest[Page]) -> PolicyEffects:
    """Return what each rule did in the last cycle, and how long it did nothing."""
    last, history = _last(request), _history(request)
    activities = sorted(history.rules, key=lambda each: -each.idle)
    page = request.given.of
    return PolicyEffects(
        last.number, last.ended, len(last.rules), page(last.rules), len(activities), page(activities)
    )


def shares(request: ApiRequest[Page]) -> CycleShares:
    """Return what submitters or queues were entitled to in the last cycle."""
    last = _last(request)
    return CycleShares(last.number, last.ended, len(last.shares), request.given.of(last.shares))


def plugins(request: ApiRequest[Page]) -> CyclePlugins:
    """Return the calls of plugins until the last cycle ended."""
    last = _last(request)
    return CyclePlugins(last.number, last.ended, len(last.plugins), request.given.of(last.plugins))


def _last(request: ApiRequest[Page]) -> CycleDetails:
    last = _history(request).last
    if last is None:
        raise NotFoundHereError("no cycle has ended yet")
    return last


def _history(request: ApiRequest[Page]) -> CycleHistory:
    location = request.overviews.targets.state_location
    if location is None:
        raise NotFoundHereError("the service has no state of a negotiator: start it with --state")
    return last_cycles(location.folder)
