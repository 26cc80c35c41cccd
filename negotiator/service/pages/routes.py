"""Which page is sent for which path."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from negotiator.app.overview import PoolOverview
from negotiator.app.token_roles import Role
from negotiator.service.answers import NotFoundHereError
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.audit import AuditPages
from negotiator.service.pages.change import Change
from negotiator.service.pages.cycles import CyclePages
from negotiator.service.pages.login import Login
from negotiator.service.pages.rendering import HtmlPage, static_files
from negotiator.service.pages.views.applications import applications_page
from negotiator.service.pages.views.configuration import configuration_page, file_page
from negotiator.service.pages.views.elements import BASE
from negotiator.service.pages.views.pool_now import hosts_page, pool_now
from negotiator.service.pages.views.queue_pages import queue_page, queue_tree
from negotiator.service.pages.views.usage import usage_page
from negotiator.service.pages.why import WhyPages
from negotiator.service.paths import named

_SECONDS_OF_FILES = 365 * 86400  # their address changes with their content


def page_routes(overviews: Overviews, callers: Callers) -> list[Route]:
    """Return the routes of all pages."""
    pages = Pages(overviews, callers)
    return [
        pages.of_overview("", _pool_now),
        pages.of_overview("/queues", _queues),
        pages.of_overview("/queues/{path:names}", _queue),
        pages.of_overview("/usage", _usage),
        pages.of_overview("/hosts", _hosts),
        pages.of_overview("/applications", _applications),
        pages.of_overview("/configuration", _configuration),
        pages.of_overview("/configuration/files/{name:names}", _file_of_bundle, Role.SCHEDULER_ADMINISTRATOR),
        *Change(pages).routes(),
        *CyclePages(pages).routes(),
        *AuditPages(pages).routes(),
        *WhyPages(pages).routes(),
        *Login(pages).routes(),
        pages.route("/static/{name}", _file),
        pages.of_overview("/{rest:path}", _nothing),
    ]


def to_pages(_request: Request) -> Response:
    """Lead from the root to the pages."""
    return RedirectResponse(BASE)


def _file(request: Request) -> Response:
    """Answer with a file that all pages use, also that of the login."""
    found = static_files().get(request.path_params["name"])
    if found is None:
        raise NotFoundHereError("There is no such file.")
    headers = {"Cache-Control": f"private, max-age={_SECONDS_OF_FILES}, immutable"}
    return Response(found.content, headers=headers, media_type=found.media_type)


def _pool_now(overview: PoolOverview, _request: Request, failure: str) -> HtmlPage:
    return HtmlPage("pool.html", "Pool now", BASE, pool_now(overview, failure))


def _queues(overview: PoolOverview, _request: Request, _failure: str) -> HtmlPage:
    return HtmlPage("queues.html", "Queues", f"{BASE}/queues", queue_tree(overview))


def _queue(overview: PoolOverview, request: Request, _failure: str) -> HtmlPage:
    queues = {each.path: each for each in overview.contents.queues}
    queue = named(request, "path", queues.get)
    if queue is None:
        raise NotFoundHereError("There is no such queue.")
    view = queue_page(overview, queue)
    return HtmlPage("queue.html", view.path, f"{BASE}/queues", view)


def _usage(overview: PoolOverview, _request: Request, _failure: str) -> HtmlPage:
    return HtmlPage("usage.html", "Users and groups", f"{BASE}/usage", usage_page(overview))


def _hosts(overview: PoolOverview, request: Request, _failure: str) -> HtmlPage:
    return HtmlPage("hosts.html", "Machines", f"{BASE}/hosts", hosts_page(overview, _given(request, "name")))


def _applications(overview: PoolOverview, request: Request, _failure: str) -> HtmlPage:
    view = applications_page(overview, _given(request, "user"), _given(request, "queue"))
    return HtmlPage("applications.html", "Applications", f"{BASE}/applications", view)


def _configuration(overview: PoolOverview, _request: Request, _failure: str) -> HtmlPage:
    return HtmlPage(
        "configuration.html", "Configuration", f"{BASE}/configuration", configuration_page(overview)
    )


def _file_of_bundle(overview: PoolOverview, request: Request, _failure: str) -> HtmlPage:
    view = named(request, "name", lambda name: file_page(overview, name))
    if view is None:
        raise NotFoundHereError("The bundle has no such file, or it is not text.")
    return HtmlPage("file.html", view.name, f"{BASE}/configuration", view)


def _nothing(_overview: PoolOverview, _request: Request, _failure: str) -> HtmlPage:
    raise NotFoundHereError("There is no such page.")


def _given(request: Request, name: str) -> str:
    values: Any = request.query_params
    return str(values.get(name, ""))
