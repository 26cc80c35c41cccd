"""HTML of view records: templates with escaping everywhere, and files that all pages use."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import attrs
import jinja2
from markupsafe import Markup

from negotiator import __version__
from negotiator.app.overview import PoolOverview
from negotiator.service.pages.views.elements import (
    BASE,
    MOST_CACHED,
    Bar,
    Link,
    Moment,
    message,
    moment,
    shown,
)

_FOLDER: Final = Path(__file__).parent
_TYPES: Final = {".css": "text/css", ".svg": "image/svg+xml"}


@attrs.frozen
class NavigationSection:
    """A part of the navigation: its title, which leads to its first page, and the titles and paths of its pages."""

    title: str
    pages: tuple[Link, ...]


#: The navigation: a line of sections, and one of the pages of the present section.
SECTIONS: Final = (
    NavigationSection(
        "Pool",
        (
            Link("Now", BASE),
            Link("Queues", f"{BASE}/queues"),
            Link("Users", f"{BASE}/usage"),
            Link("Machines", f"{BASE}/hosts"),
            Link("Applications", f"{BASE}/applications"),
        ),
    ),
    NavigationSection(
        "Cycles",
        (
            Link("Last cycles", f"{BASE}/cycles"),
            Link("Policies", f"{BASE}/policies"),
            Link("Shares", f"{BASE}/shares"),
            Link("Plugins", f"{BASE}/plugins"),
        ),
    ),
    NavigationSection(
        "Why",
        (
            Link("One job, user, queue or slot", f"{BASE}/why"),
            Link("Idle jobs", f"{BASE}/idle"),
            Link("Decisions", f"{BASE}/decisions"),
        ),
    ),
    NavigationSection(
        "Administration",
        (Link("Audit log", f"{BASE}/audit"), Link("Configuration", f"{BASE}/configuration")),
    ),
)
LOGIN: Final = Link("Log in", f"{BASE}/login")
LOGOUT: Final = Link("Log out", f"{BASE}/logout")


@attrs.frozen
class HtmlPage:
    """A page: its template, title, the path of its entry in the navigation, and what its template shows."""

    template: str
    title: str
    here: str
    view: object


@attrs.frozen
class Visitor:
    """Who sees a page: the user who is logged in, empty if nobody is, and whether there are tokens to log in with."""

    user: str
    can_log_in: bool
    is_administrator: bool = False


@attrs.frozen
class Frame:
    """What every page has around its contents. ``here`` is the path of its entry in the navigation."""

    title: str
    here: str
    pool: str
    as_of: Moment | None
    failure: str
    visitor: Visitor


@attrs.frozen
class StaticFile:
    """A file of the pages; ``href`` changes with its content."""

    content: bytes
    media_type: str
    href: str


@lru_cache(1)
def static_files() -> dict[str, StaticFile]:
    """Return the static files by name."""
    found = {}
    for file in sorted((_FOLDER / "static").iterdir()):
        if file.suffix in _TYPES:
            content = file.read_bytes()
            version = hashlib.sha256(content).hexdigest()[:12]
            found[file.name] = StaticFile(
                content, _TYPES[file.suffix], f"{BASE}/static/{file.name}?v={version}"
            )
    return found


@lru_cache(1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {
        "files": static_files(),
        "sections": SECTIONS,
        "login": LOGIN,
        "logout": LOGOUT,
        "version": __version__,
        "drawn": _drawn,
    }
    return environment


@lru_cache(MOST_CACHED)
def _drawn(found: Bar) -> Markup:
    """Return the HTML of a bar: of thousands, most are the same in the next overview of the pool."""
    macros: Any = _environment().get_template("parts.html").module
    html: Markup = macros.use(found)
    return html


def rendered(page: HtmlPage, visitor: Visitor, overview: PoolOverview | None, failure: str) -> bytes:
    """Return the HTML of a page.

    :param overview: the pool that it is about, if it was read.
    :param failure: why the pool cannot be read now; empty if it was read.
    """
    pool, as_of = "", None
    if overview is not None:
        pool, as_of = shown(overview.bundle.partition.name), moment(overview.now)
    frame = Frame(page.title, page.here, pool, as_of, message(failure), visitor)
    return _environment().get_template(page.template).render(frame=frame, view=page.view).encode()
