"""Changing ``queues.yaml`` by a page: the text is checked, then applied to the file that it was compared with, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import attrs
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from negotiator.app.change import (
    ChangedMeanwhileError,
    change_bundle,
    changeable_folder,
    check_change,
    present_file,
)
from negotiator.app.token_roles import Role
from negotiator.defaults import MAX_NOTE
from negotiator.hooks.administration import ChangeOutcome, ChangeStatus
from negotiator.pool.secrets import redact
from negotiator.service.bodies import TooLargeError
from negotiator.service.configuration import LARGEST, QUEUES
from negotiator.service.pages.answers import Pages
from negotiator.service.pages.rendering import HtmlPage
from negotiator.service.pages.views.change import ChangeCheck, ChangeView, change_check, change_done
from negotiator.service.pages.views.elements import BASE, message
from negotiator.service.pages.views.login import FORM_VALUE

_HERE: Final = f"{BASE}/configuration"
_LARGEST: Final = 4 * LARGEST  # bytes of a form, where a character takes up to three
_BY_PAGE: Final = "by page"
_TITLE: Final = f"Change {QUEUES}"
_LONGEST_NOTE: Final = MAX_NOTE - len(f"{_BY_PAGE}: ")


@attrs.frozen(eq=False)
class Change:
    """Answers the form of the configuration."""

    pages: Pages

    def routes(self) -> list[Route]:
        """Return the routes."""
        path = "/configuration/change"
        return [self.pages.route(path, self._page), self.pages.form(path, self._answer, _LARGEST)]

    def _page(self, request: Request) -> Response:
        self.pages.callers.check_reader(request)
        changeable_folder(self.pages.overviews.targets)
        present = present_file(self.pages.overviews.targets, QUEUES)
        return self._form(request, present.content.decode(errors="replace"))

    def _answer(self, request: Request, fields: Mapping[str, str]) -> Response:
        self.pages.callers.check_reader(request)
        changeable_folder(self.pages.overviews.targets)
        self.pages.callers.check_form(request, fields.get(FORM_VALUE, ""))
        text = fields.get("text", "").replace("\r\n", "\n")  # browsers send these ends of lines
        content = text.encode()
        if len(content) > LARGEST:
            raise TooLargeError(f"{QUEUES} has more than {LARGEST} bytes")
        if fields.get("action") == "apply":
            return self._apply(request, content, fields)
        return self._form(request, text, self._check(content))

    def _check(self, content: bytes) -> ChangeCheck:
        targets = self.pages.overviews.targets
        problems = check_change(targets, QUEUES, content).problems
        return change_check(problems, present_file(targets, QUEUES), content)

    def _apply(self, request: Request, content: bytes, fields: Mapping[str, str]) -> Response:
        callers, overviews = self.pages.callers, self.pages.overviews
        entry = callers.require_form(request, fields.get(FORM_VALUE, ""), Role.SCHEDULER_ADMINISTRATOR)
        note = " ".join(fields.get("note", "").split())
        why = f"{_BY_PAGE}: {note}" if note else _BY_PAGE
        try:
            outcome = change_bundle(
                overviews.targets, entry.caller, QUEUES, content, why, expected=fields.get("base", "")
            )
        except ChangedMeanwhileError:
            notice = f"{QUEUES} was changed meanwhile, so nothing was written. These are the differences to the file as it is now."
            return self._refused(request, content, HTTPStatus.CONFLICT, notice, note)
        if outcome.status is ChangeStatus.INVALID:
            return self._refused(request, content, HTTPStatus.CONFLICT, outcome.text, note)
        if outcome.status is ChangeStatus.DENIED:
            return self._refused(request, content, HTTPStatus.FORBIDDEN, _denial(outcome), note)
        overviews.refresh()
        return self.pages.send(
            request, HtmlPage("changed.html", f"{QUEUES} was changed", _HERE, change_done(QUEUES, outcome))
        )

    def _refused(
        self, request: Request, content: bytes, status: HTTPStatus, notice: str, note: str
    ) -> Response:
        return self._form(request, content.decode(), self._check(content), notice, note, status)

    def _form(
        self,
        request: Request,
        text: str,
        check: ChangeCheck | None = None,
        notice: str = "",
        note: str = "",
        status: HTTPStatus = HTTPStatus.OK,
    ) -> Response:
        found = self.pages.callers.logged_in(request)
        view = ChangeView(
            file=QUEUES,
            text=text,
            form_value=found.form_value if found else "",
            may_apply=found is not None and found.is_administrator,
            role=str(Role.SCHEDULER_ADMINISTRATOR),
            check=check,
            notice=message(notice),
            note=note,
            longest_note=_LONGEST_NOTE,
        )
        return self.pages.send(request, HtmlPage("change.html", _TITLE, _HERE, view), status)


def _denial(outcome: ChangeOutcome) -> str:
    rule = f" (rule {outcome.rule})" if outcome.rule else ""
    return redact(f"{outcome.text}{rule}: nothing was written.")
