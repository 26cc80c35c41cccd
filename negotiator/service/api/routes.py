"""The routes of the interface, made of the table of resources."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.service.answers import encoded, json_answer
from negotiator.service.api.openapi import DOCUMENT, openapi
from negotiator.service.api.parameters import read_parameters
from negotiator.service.api.resource import BASE, ApiRequest, Nothing, Resource
from negotiator.service.api.resources import RESOURCES
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews


def api_routes(
    overviews: Overviews, callers: Callers, resources: Iterable[Resource] = RESOURCES
) -> list[Route]:
    """Return the routes of all resources, and that of the OpenAPI document."""
    listed = tuple(resources)
    document = encoded(openapi(listed))

    def described(request: Request) -> Response:
        callers.check_reader(request)
        read_parameters(request, Nothing)
        return json_answer(document)

    def route(resource: Resource) -> Route:
        def answer(request: Request) -> Response:
            caller = callers.check_reader(request)
            given = read_parameters(request, resource.parameters)
            values = resource.answer(ApiRequest(overviews, caller, given))
            return json_answer(encoded(msgspec.to_builtins(attrs.asdict(values))))

        return Route(f"{BASE}{resource.path}", answer, methods=[resource.method])

    return [*map(route, listed), Route(f"{BASE}{DOCUMENT}", described, methods=["GET"])]
