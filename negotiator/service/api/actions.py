"""Actions of administrators: what ``negotiator admin`` does, for the user of a token.

The role limits what a token is good for. Whether its user may act is decided by the access policies where the request is carried
out, by the negotiator between two cycles, or here if none runs.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from negotiator.app.administer import AdminAction, AdminAnswer, administer, find_answer, pending_text
from negotiator.errors import CommandError
from negotiator.pool.secrets import redact
from negotiator.service.api.records import (
    ActionAnswer,
    ActionState,
    ApplicationAction,
    Move,
    RequestNumber,
)
from negotiator.service.api.resource import ApiRequest, Nothing
from negotiator.service.callers import UnauthorizedError


def act(action: AdminAction) -> Callable[[ApiRequest[Nothing]], ActionAnswer]:
    """Return what requests an action, and waits for its answer."""

    def answer(request: ApiRequest[Nothing]) -> ActionAnswer:
        """Return the answer of the negotiator; :raises CommandError: it refuses the action."""
        body, caller = request.body, request.caller
        if caller is None:
            raise UnauthorizedError("send a token: Authorization: Bearer TOKEN")
        application = body.application if isinstance(body, ApplicationAction) else ""
        queue = body.queue if isinstance(body, Move) else ""
        note = f"by HTTP: {body.note}" if body.note else "by HTTP"
        targets = request.overviews.targets
        outcome = administer(targets, caller.caller, action, application, queue, note, body.wait)
        found = outcome.answer
        if found is not None and not found.ok:
            raise CommandError(f"request {outcome.number}: {found.text}")
        return _answer(outcome.number, found, body.wait)

    return answer


def answer_of(request: ApiRequest[RequestNumber]) -> ActionAnswer:
    """Return the answer to a request."""
    number = request.given.number
    return _answer(number, find_answer(request.overviews.targets, number), 0.0)


def status_of_action(found: Any) -> HTTPStatus:
    """Return 202 for a request that waits for its answer."""
    return HTTPStatus.ACCEPTED if found.state is ActionState.WAITING else HTTPStatus.OK


def _answer(number: int, found: AdminAnswer | None, wait: float) -> ActionAnswer:
    if found is None:
        return ActionAnswer(number, ActionState.WAITING, pending_text(wait))
    state = ActionState.DONE if found.ok else ActionState.REFUSED
    return ActionAnswer(number, state, redact(found.text))
