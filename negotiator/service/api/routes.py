"""The routes of the interface, made of the table of resources."""

from __future__ import annotations

import math
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final

import attrs
import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.token_roles import Role
from negotiator.service.answers import JSON, NotFoundHereError, encoded, json_answer
from negotiator.service.api.openapi import DOCUMENT, openapi
from negotiator.service.api.reports import REPORTS, report_resources
from negotiator.service.api.resource import (
    BASE,
    ApiRequest,
    Nothing,
    Resource,
    SlowAnswers,
    parse_body,
    read_parameters,
)
from negotiator.service.api.resources import RESOURCES
from negotiator.service.bodies import read_json_body
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews

_LARGEST_BODY: Final = 1 << 16  # bytes
_MOST_ACTIONS: Final = 8


def api_routes(
    overviews: Overviews, callers: Callers, resources: Iterable[Resource] = RESOURCES
) -> list[Route]:
    """Return the routes of all resources, and that of the OpenAPI document."""
    listed = tuple(resources)
    # Threads of their own: while actions wait for the negotiator, or slow answers are made, others can read.
    acting = CapacityLimiter(_MOST_ACTIONS)
    making = {each: CapacityLimiter(each) for each in SlowAnswers}

    def described(request: Request) -> Response:
        callers.check_reader(request)
        read_parameters(request, Nothing)
        shown = overviews.shown
        of_plugins = report_resources(shown.overview) if shown else ()
        return json_answer(encoded(openapi((*listed, *of_plugins))))

    def reported(request: Request) -> Response:
        callers.check_reader(request)
        name = request.path_params.pop("name")
        for resource in report_resources(ApiRequest(overviews, None, Nothing()).overview):
            if resource.path == f"{REPORTS}/{name}":
                return _answer(resource, _request(resource, request), request)
        raise NotFoundHereError(f"unknown report {name[:80]!r}: {BASE}{REPORTS} lists all")

    def makes_slowly(resource: Resource, slow: SlowAnswers) -> Route:
        async def answer(request: Request) -> Response:
            found = await run_in_threadpool(_request, resource, request)
            return await to_thread.run_sync(_answer, resource, found, request, limiter=making[slow])

        return Route(f"{BASE}{resource.path}", answer, methods=[resource.method])

    def reads(resource: Resource) -> Route:
        def answer(request: Request) -> Response:
            return _answer(resource, _request(resource, request), request)

        return Route(f"{BASE}{resource.path}", answer, methods=[resource.method])

    def acts(resource: Resource, expected: type[Any]) -> Route:
        async def answer(request: Request) -> Response:
            found = await run_in_threadpool(_request, resource, request)
            content = await read_json_body(request, _LARGEST_BODY)
            complete = attrs.evolve(found, body=parse_body(content, expected))
            return await to_thread.run_sync(_answer, resource, complete, request, limiter=acting)

        return Route(f"{BASE}{resource.path}", answer, methods=[resource.method])

    def _request(resource: Resource, request: Request) -> ApiRequest[Any]:
        is_reader = resource.role is Role.VIEWER
        caller = callers.check_reader(request) if is_reader else callers.require(request, resource.role)
        return ApiRequest(overviews, caller, read_parameters(request, resource.parameters))

    def route(resource: Resource) -> Route:
        if resource.body is not None:
            return acts(resource, resource.body)
        return reads(resource) if resource.slow is None else makes_slowly(resource, resource.slow)

    return [
        *map(route, listed),
        Route(f"{BASE}{REPORTS}/{{name:name}}", reported, methods=["GET"]),
        Route(f"{BASE}{DOCUMENT}", described, methods=["GET"]),
    ]


def _answer(resource: Resource, given: ApiRequest[Any], request: Request) -> Response:
    media_type, shown = _preferred(request, resource), given.overviews.shown
    if resource.of_pool and shown is not None and not request.url.query:
        key = f"{BASE}{resource.path} {media_type}"
        kept = shown.answers.get(key, lambda: _content(resource, given, media_type)[0])
        return kept.response(request, media_type)
    content, status = _content(resource, given, media_type)
    return Response(content, status, media_type=media_type, headers={"Cache-Control": "no-store"})


def _content(resource: Resource, given: ApiRequest[Any], media_type: str) -> tuple[bytes, HTTPStatus]:
    """Return the body of an answer, and its status."""
    if media_type in resource.texts:
        return resource.texts[media_type](given).encode("utf-8", "replace"), HTTPStatus.OK
    values = resource.answer(given)
    return encoded(_finite(msgspec.to_builtins(attrs.asdict(values)))), resource.status(values)


def _finite(values: Any) -> Any:
    """Return values with null for numbers that JSON does not have."""
    if isinstance(values, float):
        return values if math.isfinite(values) else None
    if isinstance(values, dict):
        return {name: _finite(value) for name, value in values.items()}
    return list(map(_finite, values)) if isinstance(values, list | tuple) else values


def _preferred(request: Request, resource: Resource) -> str:
    """Return the first media type that a request accepts, of those that the resource has; without one JSON."""
    for given in request.headers.get("accept", "").split(","):
        media_type = given.partition(";")[0].strip().lower()
        if media_type == JSON or media_type in resource.texts:
            return media_type
    return JSON
