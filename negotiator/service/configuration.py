"""The queue configuration by HTTP: reading, checking and changing ``queues.yaml``.

Source: "Scheduler Configuration", Queue Configuration (changes by a REST interface are persisted in the file); YuniKorn's
``config`` and ``validate-conf``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import attrs
import yaml
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from negotiator.app.change import change_bundle, check_change
from negotiator.app.status import status_of
from negotiator.app.token_roles import Role
from negotiator.app.tokens import TokenEntry
from negotiator.hooks.administration import ChangeOutcome, ChangeStatus
from negotiator.pool.secrets import redact
from negotiator.records import Problem, Severity
from negotiator.service.answers import NotFoundHereError, encoded, error_answer, json_answer
from negotiator.service.bodies import read_body
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews

QUEUES: Final = "queues.yaml"
#: Bytes of a body.
LARGEST: Final = 1 << 20

_YAML: Final = "application/x-yaml; charset=UTF-8"
_STATUSES: Final = {ChangeStatus.DENIED: HTTPStatus.FORBIDDEN, ChangeStatus.INVALID: HTTPStatus.CONFLICT}


@attrs.frozen(eq=False)
class Configuration:
    """Reads and changes the queues of the bundle that the service shows."""

    overviews: Overviews
    callers: Callers

    async def read(self, request: Request) -> Response:
        """Answer with queues.yaml as it is, or as JSON."""
        await run_in_threadpool(self.callers.check_reader, request)
        shown = self.overviews.shown
        text = None if shown is None else shown.overview.bundle.files.get(QUEUES)
        if text is None:
            raise NotFoundHereError(f"the bundle has no {QUEUES}")
        if request.headers.get("accept") != "application/json":
            return Response(text, media_type=_YAML, headers={"Cache-Control": "no-store"})
        return json_answer(encoded(await run_in_threadpool(yaml.load, text, yaml.BaseLoader)))

    async def validate(self, request: Request) -> Response:
        """Answer whether the bundle would have no errors with these queues, and which it would have."""
        await run_in_threadpool(self.callers.check_reader, request)
        content = await read_body(request, LARGEST)
        check = await run_in_threadpool(check_change, self.overviews.targets, QUEUES, content)
        errors = _texts(each for each in check.problems if each.severity is Severity.ERROR)
        values = {"allowed": False, "reason": errors} if errors else {"allowed": True}
        return json_answer(encoded(values))

    async def change(self, request: Request) -> Response:
        """Replace queues.yaml, if the caller may and the bundle has no errors with it; else nothing is changed."""
        entry = await run_in_threadpool(self.callers.require, request, Role.SCHEDULER_ADMINISTRATOR)
        content = await read_body(request, LARGEST)
        return await run_in_threadpool(partial(self._change, entry, content))

    def _change(self, entry: TokenEntry, content: bytes) -> Response:
        outcome = change_bundle(self.overviews.targets, entry.caller, QUEUES, content, "by HTTP")
        if outcome.status is not ChangeStatus.DONE:
            return error_answer(_STATUSES[outcome.status], _reason(outcome))
        self.overviews.refresh()
        if outcome.error is not None:
            return error_answer(status_of(outcome.error).http, redact(f"{outcome.text}; {outcome.error}"))
        return json_answer(encoded(_values(outcome)))


def _values(outcome: ChangeOutcome) -> dict[str, Any]:
    return {
        "digest": outcome.digest,
        "text": outcome.text,
        "rule": outcome.rule,
        "recorded": outcome.recorded,
        "warnings": [redact(str(each)) for each in outcome.problems],
    }


def _reason(outcome: ChangeOutcome) -> str:
    problems = _texts(each for each in outcome.problems if each.severity is Severity.ERROR)
    rule = f" (rule {outcome.rule})" if outcome.rule else ""
    return redact(f"{outcome.text}{rule}") + (f": {problems}" if problems else "")


def _texts(problems: Iterable[Problem]) -> str:
    return "; ".join(redact(str(each)) for each in problems)
