"""Requests of administrators and their answers, and the table that has them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import attrs

from negotiator.runtime.state.connection import Connection

_ANSWERS = 1_000  # stored answers; older ones are deleted


class AdminAction(StrEnum):
    """What an administrator can request."""

    MOVE = "move"
    HOLD = "hold"
    RELEASE = "release"
    KILL = "kill"
    RELOAD = "reload"
    CHANGE = "change"  # a file of the bundle was replaced
    CHANGE_QUEUES = "change_queues"  # the file of the queues was replaced
    CHANGE_ORDER = "change_order"  # rows of an order, such as accounts

    @property
    def is_change(self) -> bool:
        """True if a file was replaced already, or the change was denied already."""
        return self in {AdminAction.CHANGE, AdminAction.CHANGE_QUEUES}


@attrs.frozen
class AdminRequest:
    """A request of an administrator; ``at`` is in seconds since the epoch.

    ``change`` is the text of a change of the rows of ``order``; it is stored until the request is answered.
    """

    number: int
    at: float
    by: str
    groups: tuple[str, ...]
    action: AdminAction
    application: str = ""  # schedd#cluster, or the cluster alone
    queue: str = ""
    note: str = ""
    order: str = ""
    change: str = ""


@attrs.frozen
class AdminAnswer:
    """The answer to a request."""

    ok: bool
    text: str


def add_request(db: Connection, request: AdminRequest) -> int:
    """Add a request, and return the number that it gets."""
    who = request.at, request.by, ",".join(request.groups)
    texts = request.application, request.queue, request.note, request.order, request.change
    ((number,),) = db.execute(
        'INSERT INTO admin_requests (time, "user", groups, action, application, queue, note, order_name, change)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
        (*who, str(request.action), *texts),
    )
    return int(number)


def waiting_requests(db: Connection) -> Iterator[AdminRequest]:
    """Yield the requests without an answer, in the order of their numbers."""
    query = (
        'SELECT number, time, "user", groups, action, application, queue, note, order_name, change'
        " FROM admin_requests WHERE done = 0 ORDER BY number"
    )
    for number, at, by, groups, action, *texts in db.execute(query):
        names = tuple(filter(None, groups.split(",")))
        yield AdminRequest(number, at, by, names, AdminAction(action), *texts)


def write_answer(db: Connection, number: int, answer: AdminAnswer) -> None:
    """Write the answer to a request, and remove old answers."""
    db.execute(
        "UPDATE admin_requests SET done = 1, ok = ?, answer = ?, change = '' WHERE number = ?",
        (int(answer.ok), answer.text, number),
    )
    db.execute("DELETE FROM admin_requests WHERE done = 1 AND number <= ?", (number - _ANSWERS,))


def read_answer(db: Connection, number: int) -> AdminAnswer | None:
    """Return the answer to a request; None before it is answered."""
    query = "SELECT ok, answer FROM admin_requests WHERE number = ? AND done = 1"
    found = [AdminAnswer(bool(ok), text) for ok, text in db.execute(query, (number,))]
    return found[0] if found else None
