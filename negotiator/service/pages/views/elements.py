"""What all pages have in common: texts that are safe to show, links, times, and bars."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final
from urllib.parse import quote

import attrs
from markupsafe import Markup

from negotiator.pool.secrets import redact
from negotiator.queues.quantities import VCORE, Resources, format_quantity
from negotiator.records.text import printable
from negotiator.service.shares import share

BASE: Final = "/pool"
#: Rows of a table; a note says how many more there are.
MOST_ROWS: Final = 500
#: Links and bars that are kept: most are the same in the next overview of the pool.
MOST_CACHED: Final = 1 << 13

_LONGEST: Final = 160  # characters of a name
_LONGEST_LINK: Final = 2000
_NEAR: Final = 80  # percent, as in the metrics
_FIRST: Final = (VCORE, "memory")


@attrs.frozen
class Link:
    """A text with the address that it leads to; an empty address is no link."""

    text: str
    href: str = ""


@attrs.frozen
class Moment:
    """A time, for people and for programs."""

    text: str
    iso: str


@attrs.frozen
class Bar:
    """How much of an amount is used, in words and as a picture.

    ``level`` is ``near``, ``full``, ``over``, ``free`` (no maximum: the share of the pool) or empty. ``pending`` is what
    idle jobs request.
    """

    resource: str
    used: str
    most: str
    share: str
    level: str
    picture: Markup
    pending: str = ""


@attrs.frozen
class Rows:
    """The first rows of a table, and the number of further ones."""

    rows: tuple[object, ...]
    more: int

    @classmethod
    def first(cls, rows: Iterable[object], total: int, most: int = MOST_ROWS) -> Rows:
        """Return the first rows of ``total``."""
        return cls(tuple(islice(rows, most)), max(total - most, 0))


def shown(name: str) -> str:
    """Return a name for a page: without control characters, shortened, never empty."""
    text = printable(name)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def message(text: str) -> str:
    """Return a message for a page, without secrets and control characters."""
    return printable(redact(text))


def link(name: str, *parts: str, **query: str) -> Link:
    """Return a link with the name of something; the parts of the path and the query are quoted here."""
    href = "/".join((BASE, *map(_quoted, parts)))
    if query:
        href += "?" + "&".join(f"{key}={_quoted(value)}" for key, value in query.items())
    return Link(shown(name), href if len(href) <= _LONGEST_LINK else "")


@lru_cache(MOST_CACHED)
def queue_link(path: str, name: str = "") -> Link:
    """Return a link to the page of a queue."""
    return link(name or path, "queues", path)


def user_link(user: str) -> Link:
    """Return a link to the applications of a user."""
    return link(user, "applications", user=user)


def moment(seconds: float) -> Moment | None:
    """Return a time in seconds since the epoch; None if it is unknown (0) or no date."""
    try:
        found = dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return Moment(f"{found:%Y-%m-%d %H:%M:%S} UTC", f"{found:%Y-%m-%dT%H:%M:%SZ}") if seconds else None


def moment_of(text: str) -> Moment | None:
    """Return the time of a record, RFC 3339 in UTC; None if it is none."""
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment(found.timestamp())


@lru_cache(1 << 16)
def amount(resource: str, value: int) -> str:
    """Return an amount with its unit."""
    return format_quantity(resource, value)


def amounts(found: Resources) -> str:
    """Return ``vcore 4, memory 2Gi``; empty for nothing."""
    return ", ".join(f"{shown(name)} {amount(name, found[name])}" for name in ordered(found) if found[name])


def ordered(resources: Iterable[str]) -> list[str]:
    """Return names of resources: cores and memory first, the others by name."""
    return sorted(set(resources), key=lambda name: (_FIRST.index(name) if name in _FIRST else 2, name))


@lru_cache(MOST_CACHED)
def bar(
    resource: str, used: int, most: int | None, *, pending: int = 0, guaranteed: int = 0, pool: int = 0
) -> Bar:
    """Return the bar of a resource.

    :param most: the maximum; None if there is none: then the share is that of ``pool``.
    """
    whole = pool if most is None else most
    grade = "free" if most is None else level(used, most)
    mark = _part(guaranteed, whole) if guaranteed and whole else None
    return Bar(
        shown(resource),
        amount(resource, used),
        "" if most is None else amount(resource, most),
        _share_text(used, most, pool),
        grade,
        picture(_part(used, whole), grade, _part(pending, whole), mark),
        amount(resource, pending) if pending else "",
    )


def picture(used: float, grade: str = "", pending: float = 0.0, mark: float | None = None) -> Markup:
    """Return a bar as SVG, which screen readers leave out: the numbers are beside it. Only numbers come from outside.

    :param used: in percent of the width; ``pending`` follows it, as far as there is room.
    :param mark: where the guaranteed amount ends.
    """
    parts = [f'<rect class="used" width="{used}%" height="8"/>']
    if pending and used < 100:
        width = min(pending, 100 - used)
        parts.append(f'<rect class="pending" x="{used}%" width="{width:g}%" height="8"/>')
    if mark is not None:
        parts.append(f'<rect class="mark" x="{mark}%" width="2" height="8"/>')
    return Markup(f'<svg class="bar {grade}" aria-hidden="true" focusable="false">{"".join(parts)}</svg>')  # noqa: S704


def level(used: float, most: float) -> str:
    """Return how near a use is to its maximum: ``over``, ``full``, ``near``, or empty."""
    if used > most:
        return "over"
    if used == most and most:
        return "full"
    return "near" if used * 100 >= most * _NEAR and used else ""


def _share_text(used: int, most: int | None, pool: int) -> str:
    if most is not None:
        return f"{share(most, used)} %"
    return f"{share(pool, used)} % of the pool" if pool else ""


def _part(part: int, whole: int) -> float:
    """Return a part in percent, at most 100, to a tenth."""
    if part <= 0:
        return 0.0
    return 100.0 if part >= whole else round(part * 1000 / whole) / 10


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")
