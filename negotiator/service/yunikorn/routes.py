"""Which path of ``/ws/v1`` is answered by what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.overview import PoolOverview
from negotiator.app.usage import entry_name
from negotiator.queues import ROOT, Queue
from negotiator.queues.names import WILDCARD, is_group_name, is_queue_path, is_user_name
from negotiator.service.answers import (
    JSON,
    InvalidNameError,
    NotFoundHereError,
    NotReadError,
    encoded,
    json_answer,
)
from negotiator.service.callers import Callers
from negotiator.service.health import health_checks
from negotiator.service.history import PoolCount
from negotiator.service.overviews import Overviews
from negotiator.service.paths import named, readings
from negotiator.service.yunikorn import clusters, queues
from negotiator.service.yunikorn.shapes import nanoseconds

#: Returns the values of an answer; the request has the parameters of the path.
Values: TypeAlias = Callable[[PoolOverview, Request], Any]

BASE: Final = "/ws/v1"


def read_routes(overviews: Overviews, callers: Callers) -> list[Route]:
    """Return the routes of everything that can be read.

    Answers about the pool are made once for each overview, in threads, and are sent to everybody who requests them.
    """
    started = overviews.clock()

    def reads(path: str, values: Values) -> Route:
        def answer(request: Request) -> Response:
            callers.check_reader(request)
            shown = overviews.shown
            if shown is None:
                raise NotReadError(overviews.failure or "the pool has not been read yet")
            key = f"{request.url.path}?{'subtree' in request.query_params}"
            found = shown.answers.get(key, lambda: encoded(values(shown.overview, request)))
            return found.response(request, JSON)

        return Route(f"{BASE}{path}", answer, methods=["GET"])

    def own(path: str, values: Callable[[], Any]) -> Route:
        def answer(request: Request) -> Response:
            callers.check_reader(request)
            return json_answer(encoded(values()))

        return Route(f"{BASE}{path}", answer, methods=["GET"])

    partition = "/partition/{partition:name}"
    queue = f"{partition}/queue/{{queue:name}}"
    return [
        reads("/clusters", lambda found, _: clusters.clusters(found, started)),
        reads("/partitions", lambda found, _: clusters.partitions(found, started)),
        reads(f"{partition}/queues", _queues),
        reads(queue, _queue),
        reads(f"{queue}/applications", _queue_applications),
        reads(f"{queue}/application/{{application:names}}", _application),
        reads(f"{partition}/application/{{application:names}}", _application),
        reads(
            f"{partition}/nodes",
            lambda found, request: clusters.nodes(found.contents.hosts, _partition(found, request)),
        ),
        reads(f"{partition}/node/{{node:names}}", _node),
        reads(f"{partition}/usage/users", lambda found, request: _usage(found, request, found.users)),
        reads(f"{partition}/usage/groups", lambda found, request: _usage(found, request, found.groups)),
        reads(f"{partition}/usage/user/{{user:names}}", _user),
        reads(f"{partition}/usage/group/{{group:names}}", _group),
        reads(f"{partition}/placementrules", _rules),
        reads("/scheduler/node-utilizations", _utilizations),
        own("/history/apps", lambda: _history(overviews, "totalApplications", attrgetter("applications"))),
        own("/history/containers", lambda: _history(overviews, "totalContainers", attrgetter("running"))),
        own("/scheduler/healthcheck", lambda: _health(overviews)),
    ]


def _partition(found: PoolOverview, request: Request) -> str:
    name = found.bundle.partition.name
    if name not in readings(request.path_params["partition"]):
        raise NotFoundHereError("Partition not found")
    return name


def _requested_queue(found: PoolOverview, request: Request) -> Queue:
    if not any(map(is_queue_path, readings(request.path_params["queue"]))):
        raise InvalidNameError(f"invalid queue name {request.path_params['queue'][:80]!r}")
    queue = named(request, "queue", found.contents.queues.get)
    if queue is None:
        raise NotFoundHereError("Queue not found")
    return queue


def _queues(found: PoolOverview, request: Request) -> Any:
    _partition(found, request)
    return queues.queue_tree(found, found.contents.queues.nearest(ROOT))


def _queue(found: PoolOverview, request: Request) -> Any:
    _partition(found, request)
    queue = _requested_queue(found, request)
    return queues.queue_tree(found, queue, subtree="subtree" in request.query_params)


def _queue_applications(found: PoolOverview, request: Request) -> Any:
    partition, path = _partition(found, request), _requested_queue(found, request).path
    own = (each for each in found.contents.applications if each.queue == path)
    return queues.applications(own, partition)


def _application(found: PoolOverview, request: Request) -> Any:
    partition = _partition(found, request)
    path = _requested_queue(found, request).path if "queue" in request.path_params else None
    known = {each.name: each for each in found.contents.applications if path in {None, each.queue}}
    application = named(request, "application", known.get)
    if application is None:
        raise NotFoundHereError("Application not found")
    return queues.application(application, partition)


def _node(found: PoolOverview, request: Request) -> Any:
    partition = _partition(found, request)
    host = named(request, "node", {each.name: each for each in found.contents.hosts}.get)
    if host is None:
        raise NotFoundHereError("Node not found")
    return clusters.node(host, partition)


def _utilizations(found: PoolOverview, _request: Request) -> Any:
    return clusters.node_utilizations(found.contents.hosts, found.bundle.partition.name)


def _usage(found: PoolOverview, request: Request, entries: Any) -> Any:
    _partition(found, request)
    return [dict(entry) for entry in entries]


def _user(found: PoolOverview, request: Request) -> Any:
    return _usage_of("user", found, request, found.users, is_user_name)


def _group(found: PoolOverview, request: Request) -> Any:
    return _usage_of(
        "group", found, request, found.groups, lambda name: name == WILDCARD or is_group_name(name)
    )


def _usage_of(
    kind: str,
    found: PoolOverview,
    request: Request,
    entries: Iterable[Mapping[str, Any]],
    is_name: Callable[[str], bool],
) -> Any:
    """Return the usage of the user or group that a path names."""
    _partition(found, request)
    if not any(map(is_name, readings(request.path_params[kind]))):
        raise InvalidNameError(f"Invalid {kind} name")
    entry = named(request, kind, {entry_name(each): each for each in entries}.get)
    if entry is None:
        raise NotFoundHereError(f"{kind.capitalize()} not found")
    return dict(entry)


def _rules(found: PoolOverview, request: Request) -> Any:
    _partition(found, request)
    return queues.placement_rules(found.bundle.partition.rules)


def _history(overviews: Overviews, key: str, value: Callable[[PoolCount], int]) -> Any:
    return [{"timestamp": nanoseconds(each.at), key: str(value(each))} for each in overviews.history.counts()]


def _health(overviews: Overviews) -> Any:
    shown = overviews.shown
    return clusters.health(health_checks(shown.overview if shown else None, overviews.failure))
