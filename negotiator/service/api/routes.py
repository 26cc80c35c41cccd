"""The routes of the interface, made of the table of resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs
import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.token_roles import Role
from negotiator.service.answers import encoded, json_answer
from negotiator.service.api.openapi import DOCUMENT, openapi
from negotiator.service.api.parameters import parse_body, read_parameters
from negotiator.service.api.resource import BASE, ApiRequest, Nothing, Resource
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
    document = encoded(openapi(listed))

    # Threads of their own: while actions wait for the negotiator, others can read.
    acting = CapacityLimiter(_MOST_ACTIONS)

    def described(request: Request) -> Response:
        callers.check_reader(request)
        read_parameters(request, Nothing)
        return json_answer(document)

    def reads(resource: Resource) -> Route:
        def answer(request: Request) -> Response:
            return _answer(resource, _request(resource, request))

        return Route(f"{BASE}{resource.path}", answer, methods=[resource.method])

    def acts(resource: Resource, expected: type[Any]) -> Route:
        async def answer(request: Request) -> Response:
            found = await run_in_threadpool(_request, resource, request)
            content = await read_json_body(request, _LARGEST_BODY)
            complete = attrs.evolve(found, body=parse_body(content, expected))
            return await to_thread.run_sync(_answer, resource, complete, limiter=acting)

        return Route(f"{BASE}{resource.path}", answer, methods=[resource.method])

    def _request(resource: Resource, request: Request) -> ApiRequest[Any]:
        is_reader = resource.role is Role.VIEWER
        caller = callers.check_reader(request) if is_reader else callers.require(request, resource.role)
        return ApiRequest(overviews, caller, read_parameters(request, resource.parameters))

    routes = [reads(each) if each.body is None else acts(each, each.body) for each in listed]
    return [*routes, Route(f"{BASE}{DOCUMENT}", described, methods=["GET"])]


def _answer(resource: Resource, request: ApiRequest[Any]) -> Response:
    values = resource.answer(request)
    body = encoded(msgspec.to_builtins(attrs.asdict(values)))
    return json_answer(body, resource.status(values))
