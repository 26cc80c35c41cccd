"""Resources about the service, and about the pool as it was read last."""

from __future__ import annotations

import math
from collections.abc import Iterator

import attrs

from negotiator import __version__
from negotiator.app.limits import LimitUse, limit_uses
from negotiator.pool.secrets import redact
from negotiator.service.api.records import Limit, LimitQuery, Limits, Plugin, Plugins, ServiceStatus
from negotiator.service.api.resource import ApiRequest, Nothing


def status(request: ApiRequest[Nothing]) -> ServiceStatus:
    """Return the status of the service; it has one before the pool was read."""
    shown, failure = request.overviews.shown, request.overviews.failure
    if shown is None:
        return ServiceStatus(__version__, "", None, failure, None)
    found = shown.overview
    health = found.health and attrs.evolve(found.health, text=redact(found.health.text))
    return ServiceStatus(__version__, found.bundle.digest, found.now, failure, health)


def plugins(request: ApiRequest[Nothing]) -> Plugins:
    """Return the plugins of the bundle."""
    found = request.overview.bundle.hooks.plugins
    return Plugins(
        tuple(Plugin(each.name, each.version, each.origin, each.status, each.hooks) for each in found)
    )


def limits(request: ApiRequest[LimitQuery]) -> Limits:
    """Return the selected limits."""
    found = list(_selected(request.given, limit_uses(request.overview)))
    exceeded = sum(each.share > 1 for each in found)
    return Limits(len(found), exceeded, tuple(map(_limit, request.given.of(found))))


def _selected(query: LimitQuery, found: list[LimitUse]) -> Iterator[LimitUse]:
    for each in found:
        if (
            query.kind in {None, each.kind}
            and query.name in {"", each.name}
            and query.queue in {"", each.queue}
            and (not query.exceeded or each.share > 1)
        ):
            yield each


def _limit(found: LimitUse) -> Limit:
    share = None if math.isinf(found.share) else found.share
    return Limit(found.kind, found.name, found.queue, found.resource, found.used, found.limit, share)
