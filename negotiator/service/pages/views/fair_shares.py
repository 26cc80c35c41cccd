"""*Shares*: who was entitled to what in the last cycle, what they used and got, and why their other jobs wait."""

from __future__ import annotations

from collections.abc import Container

import attrs
from markupsafe import Markup

from negotiator.app.cycles import CycleDetails, HolderShare
from negotiator.service.pages.views.elements import (
    Link,
    Moment,
    Rows,
    level,
    link,
    message,
    moment,
    picture,
    queue_link,
)


@attrs.frozen
class ShareRow:
    """A submitter or a queue: its decisions, what it is entitled to and uses, and the reason of most of its jobs that wait."""

    holder: Link
    decisions: Link
    priority: str
    entitled: str
    before: str
    used: str
    picture: Markup
    unit: str
    granted: str
    waiting: str
    why: str


@attrs.frozen
class SharesView:
    """The page."""

    number: str
    ended: Moment | None
    rows: Rows


def shares_view(details: CycleDetails, queues: Container[str]) -> SharesView:
    """Return the page, in the order of the first turns.

    :param queues: the paths of those that have pages.
    """
    rows = [_row(each, queues) for each in details.shares]
    return SharesView(f"{details.number}", moment(details.ended), Rows.first(rows, len(rows)))


def _row(share: HolderShare, queues: Container[str]) -> ShareRow:
    is_queue = share.holder in queues
    query = {"queue": share.holder} if is_queue else {"user": share.holder}
    return ShareRow(
        queue_link(share.holder) if is_queue else Link(message(share.holder)),
        link("decisions", "decisions", **query),
        _amount(share.priority),
        _amount(share.entitled),
        _amount(share.used_before),
        _amount(share.used),
        picture(_part(share), level(share.used, share.entitled)),
        message(share.unit),
        f"{share.granted:,}",
        f"{share.waiting:,}",
        message(share.text),
    )


def _part(share: HolderShare) -> float:
    """Return how much of what a holder is entitled to it uses, in percent, at most 100."""
    if share.entitled <= 0:
        return 100.0 if share.used > 0 else 0.0
    return round(min(max(share.used / share.entitled, 0.0), 1.0) * 100, 1)


def _amount(value: float) -> str:
    return f"{value:,.2f}".removesuffix(".00")
