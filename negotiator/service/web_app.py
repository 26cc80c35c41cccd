"""The ASGI application: which path is answered by what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from negotiator.app.overview import PoolOverview
from negotiator.app.tokens import Role
from negotiator.errors import NegotiatorError
from negotiator.queues.names import is_group_name, is_queue_path, is_user_name
from negotiator.service.answers import (
    InvalidNameError,
    NotFoundHereError,
    NotReadError,
    encoded,
    failing_with,
    http_error,
    json_answer,
    unexpected_error,
    use_case_error,
)
from negotiator.service.callers import Callers, ForbiddenError, UnauthorizedError
from negotiator.service.configuration import Configuration, TooLargeError
from negotiator.service.metrics import CONTENT_TYPE, metrics_text
from negotiator.service.overviews import Overviews
from negotiator.service.pages.routes import PageHeaders, page_routes
from negotiator.service.yunikorn import applications, clusters, health, nodes, queues, rules
from negotiator.service.yunikorn.shapes import nanoseconds

#: Returns the values of an answer; the request has the parameters of the path.
Values: TypeAlias = Callable[[PoolOverview, Request], Any]

_BASE: Final = "/ws/v1"
_WILDCARD: Final = "*"


def make_app(
    overviews: Overviews, callers: Callers | None = None, middleware: Sequence[Middleware] = ()
) -> Starlette:
    """Return the application that answers from these overviews.

    :param callers: finds who sends a request; None: everybody may read, and nobody may change anything.

    Answers are made once for each overview, in threads, and are sent to everybody who requests them.
    """
    started, known = overviews.clock(), callers or Callers()
    configuration = Configuration(overviews, known)

    def reads(path: str, values: Values) -> Route:
        def answer(request: Request) -> Response:
            known.require(request, Role.VIEWER)
            shown = overviews.shown
            if shown is None:
                raise NotReadError(overviews.failure or "the pool has not been read yet")
            key = f"{request.url.path}?{'subtree' in request.query_params}"
            body = shown.answer(key, lambda: encoded(values(shown.overview, request)))
            return json_answer(body)

        return Route(f"{_BASE}{path}", answer, methods=["GET"])

    def own(path: str, values: Callable[[], Any]) -> Route:
        def answer(request: Request) -> Response:
            known.require(request, Role.VIEWER)
            return json_answer(encoded(values()))

        return Route(f"{_BASE}{path}", answer, methods=["GET"])

    def metrics(request: Request) -> Response:
        known.require(request, Role.VIEWER)
        return Response(
            metrics_text(overviews), media_type=CONTENT_TYPE, headers={"Cache-Control": "no-store"}
        )

    partition = "/partition/{partition}"
    queue = f"{partition}/queue/{{queue}}"
    routes = [
        reads("/clusters", lambda found, _: clusters.clusters(found, started)),
        reads("/partitions", lambda found, _: clusters.partitions(found, started)),
        reads(f"{partition}/queues", _queues),
        reads(queue, _queue),
        reads(f"{queue}/applications", _queue_applications),
        reads(f"{queue}/application/{{application:path}}", _application),
        reads(f"{partition}/application/{{application:path}}", _application),
        reads(
            f"{partition}/nodes",
            lambda found, request: nodes.nodes(found.contents.hosts, _partition(found, request)),
        ),
        reads(f"{partition}/node/{{node}}", _node),
        reads(f"{partition}/usage/users", lambda found, request: _usage(found, request, found.users)),
        reads(f"{partition}/usage/groups", lambda found, request: _usage(found, request, found.groups)),
        reads(f"{partition}/usage/user/{{user:path}}", _user),
        reads(f"{partition}/usage/group/{{group:path}}", _group),
        reads(f"{partition}/placementrules", _rules),
        reads("/scheduler/node-utilizations", _utilizations),
        own("/history/apps", lambda: _history(overviews, "totalApplications")),
        own("/history/containers", lambda: _history(overviews, "totalContainers")),
        own("/scheduler/healthcheck", lambda: _health(overviews)),
        *(Route(path, metrics, methods=["GET"]) for path in ("/metrics", f"{_BASE}/metrics")),
        Route("/livez", _live, methods=["GET"]),
        Route("/readyz", _ready(overviews), methods=["GET"]),
        Route(f"{_BASE}/config", configuration.read, methods=["GET"]),
        Route(f"{_BASE}/config", configuration.change, methods=["PUT"]),
        Route(f"{_BASE}/validate-conf", configuration.validate, methods=["POST"]),
        *page_routes(overviews, known),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(PageHeaders), *middleware],
        exception_handlers={
            NotFoundHereError: failing_with(HTTPStatus.NOT_FOUND),
            InvalidNameError: failing_with(HTTPStatus.BAD_REQUEST),
            NotReadError: failing_with(HTTPStatus.SERVICE_UNAVAILABLE),
            UnauthorizedError: failing_with(HTTPStatus.UNAUTHORIZED, {"WWW-Authenticate": "Bearer"}),
            ForbiddenError: failing_with(HTTPStatus.FORBIDDEN),
            TooLargeError: failing_with(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"Connection": "close"}),
            NegotiatorError: use_case_error,
            HTTPException: http_error,
            Exception: unexpected_error,
        },
    )


async def _live(_request: Request) -> Response:
    """Answer that the service runs, whatever the pool is like."""
    return PlainTextResponse("alive\n")


def _ready(overviews: Overviews) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers whether the service has something to show."""

    async def answer(_request: Request) -> Response:
        if overviews.shown is None:
            return PlainTextResponse("the pool has not been read yet\n", HTTPStatus.SERVICE_UNAVAILABLE)
        return PlainTextResponse("ready\n")

    return answer


def _partition(found: PoolOverview, request: Request) -> str:
    name = found.bundle.partition.name
    if request.path_params["partition"] != name:
        raise NotFoundHereError("Partition not found")
    return name


def _queue_path(found: PoolOverview, request: Request) -> str:
    path: str = request.path_params["queue"]
    if not is_queue_path(path):
        raise InvalidNameError(f"invalid queue name {path[:80]!r}")
    queue = found.contents.queues.get(path)
    if queue is None:
        raise NotFoundHereError("Queue not found")
    return queue.path


def _queues(found: PoolOverview, request: Request) -> Any:
    return queues.queue_tree(found.contents, _partition(found, request))


def _queue(found: PoolOverview, request: Request) -> Any:
    partition, path = _partition(found, request), _queue_path(found, request)
    return queues.queue_tree(found.contents, partition, path, subtree="subtree" in request.query_params)


def _queue_applications(found: PoolOverview, request: Request) -> Any:
    partition, path = _partition(found, request), _queue_path(found, request)
    own = (each for each in found.contents.applications if each.queue == path)
    return applications.applications(own, partition)


def _application(found: PoolOverview, request: Request) -> Any:
    partition, name = _partition(found, request), request.path_params["application"]
    path = _queue_path(found, request) if "queue" in request.path_params else None
    for each in found.contents.applications:
        if each.name == name and path in {None, each.queue}:
            return applications.application(each, partition)
    raise NotFoundHereError("Application not found")


def _node(found: PoolOverview, request: Request) -> Any:
    partition = _partition(found, request)
    for host in found.contents.hosts:
        if host.name == request.path_params["node"]:
            return nodes.node(host, partition)
    raise NotFoundHereError("Node not found")


def _utilizations(found: PoolOverview, _request: Request) -> Any:
    return nodes.node_utilizations(found.contents.hosts, found.bundle.partition.name)


def _usage(found: PoolOverview, request: Request, entries: Any) -> Any:
    _partition(found, request)
    return [dict(entry) for entry in entries]


def _user(found: PoolOverview, request: Request) -> Any:
    _partition(found, request)
    name = request.path_params["user"]
    if not is_user_name(name):
        raise InvalidNameError("Invalid user name")
    for entry in found.users:
        if entry["userName"] == name:
            return dict(entry)
    raise NotFoundHereError("User not found")


def _group(found: PoolOverview, request: Request) -> Any:
    _partition(found, request)
    name = request.path_params["group"]
    if name != _WILDCARD and not is_group_name(name):
        raise InvalidNameError("Invalid group name")
    for entry in found.groups:
        if entry["groupName"] == name:
            return dict(entry)
    raise NotFoundHereError("Group not found")


def _rules(found: PoolOverview, request: Request) -> Any:
    _partition(found, request)
    return rules.placement_rules(found.bundle.partition.rules)


def _history(overviews: Overviews, key: str) -> Any:
    return [
        {
            "timestamp": nanoseconds(count.at),
            key: str(count.applications if key == "totalApplications" else count.running),
        }
        for count in overviews.history.counts()
    ]


def _health(overviews: Overviews) -> Any:
    shown = overviews.shown
    return health.health_checks(shown.overview if shown else None, overviews.failure)
