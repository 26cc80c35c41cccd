"""Resources about what was recorded: the reports of plugins, with the parameters and rows that they declare; records and decisions of the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

import attrs
from msgspec import Meta

from negotiator.app.audit import AuditQuery, audit_page
from negotiator.app.decisions import DecisionPage, decision_page
from negotiator.app.overview import PoolOverview
from negotiator.app.reports import CollectedReport
from negotiator.errors import PluginFailureError
from negotiator.hooks.answers import Attributed
from negotiator.hooks.reports import Report, ReportParameter
from negotiator.service.answers import NotFoundHereError, encoded
from negotiator.service.api.records import AuditRecordQuery, AuditRecords, RecordQuery, ReportInfo, Reports
from negotiator.service.api.resource import BASE, LONGEST_NAME, ApiRequest, Nothing, Page, Resource

#: The path of the list of reports, and of all reports.
REPORTS: Final = "/reports"
_STATUSES: Final = {HTTPStatus.BAD_GATEWAY: "The plugin failed."}


def records(request: ApiRequest[AuditRecordQuery]) -> AuditRecords:
    """Return the newest records with the given properties."""
    given = request.given
    kinds = frozenset({given.kind}) if given.kind else frozenset()
    query = _query(given, kinds, given.text)
    found = audit_page(request.overviews.targets.audit_log, query, given.rows)
    return AuditRecords(found.records, found.before, found.searched)


def decisions(request: ApiRequest[RecordQuery]) -> DecisionPage:
    """Return the newest decisions with the given properties."""
    given = request.given
    return decision_page(request.overviews.targets.audit_log, _query(given), given.rows)


def _query(given: RecordQuery, kinds: frozenset[str] = frozenset(), text: str = "") -> AuditQuery:
    return AuditQuery(
        kinds=kinds,
        job=given.job,
        user=given.user,
        queue=given.queue,
        slot=given.slot,
        text=text,
        since=given.since,
        until=given.until,
        before=given.before,
    )


def reports(request: ApiRequest[Nothing]) -> Reports:
    """Return the list of reports."""
    return Reports(tuple(_info(each.of) for each in request.overview.reports))


def report_resources(overview: PoolOverview) -> tuple[Resource, ...]:
    """Return a resource for each report."""
    return _resources(tuple(each.of for each in overview.reports))


@lru_cache(4)
def _resources(declared: tuple[Attributed[Report], ...]) -> tuple[Resource, ...]:
    return tuple(map(_resource, declared))


def _info(declared: Attributed[Report]) -> ReportInfo:
    report = declared.record
    path = f"{BASE}{REPORTS}/{report.name}"
    media_types = ("application/json", *report.texts)
    return ReportInfo(report.name, path, declared.plugin, report.summary, report.parameters, media_types)


def _resource(declared: Attributed[Report]) -> Resource:
    report = declared.record
    title = "".join(word.capitalize() for word in report.name.split("-"))
    answers = _class(
        f"{title}Report",
        f"{report.summary}. ``failures`` are what could not be counted.",
        {"total": int, "rows": tuple[report.row, ...], "failures": tuple[str, ...]},  # type: ignore[name-defined]
    )

    def answer(request: ApiRequest[Any]) -> Any:
        found = _found(request, report.name)
        rows = found.rows(_values(report, request.given))
        page = request.given.of(rows)
        try:
            encoded([attrs.asdict(row) for row in page])
        except (TypeError, ValueError) as error:
            text = f"plugin {declared.plugin}: a row of the report {report.name} is not JSON: {error}"
            raise PluginFailureError(text) from None
        return answers(len(rows), page, found.uncounted)

    def text_of(media_type: str) -> Callable[[ApiRequest[Any]], str]:
        return lambda request: _found(request, report.name).text(media_type, _values(report, request.given))

    return Resource(
        path=f"{REPORTS}/{report.name}",
        summary=report.summary,
        parameters=_class(
            f"{title}Query",
            report.summary,
            {each.name: _type(each) for each in report.parameters},
            Page,
            {each.name: each.default for each in report.parameters},
        ),
        answers=answers,
        answer=answer,
        of_pool=True,
        statuses=_STATUSES,
        texts={media_type: text_of(media_type) for media_type in report.texts},
    )


def _found(request: ApiRequest[Any], name: str) -> CollectedReport:
    for each in request.overview.reports:
        if each.report.name == name:
            return each
    raise NotFoundHereError(f"unknown report {name!r}")  # the bundle has changed meanwhile


def _values(report: Report, given: Any) -> Mapping[str, str]:
    return {each.name: getattr(given, each.name) for each in report.parameters}


def _type(parameter: ReportParameter) -> Any:
    if parameter.choices:
        return Annotated[Literal[parameter.choices], Meta(description=parameter.text)]
    return Annotated[str, Meta(max_length=LONGEST_NAME, description=parameter.text)]


def _class(
    name: str,
    text: str,
    fields: Mapping[str, Any],
    base: type[Any] = object,
    defaults: Mapping[str, Any] | None = None,
) -> Any:
    """Return a class of attrs with fields of these types."""
    given = defaults or {}
    made = {
        each: attrs.field(type=kind, default=given.get(each, attrs.NOTHING)) for each, kind in fields.items()
    }
    return attrs.make_class(name, made, (base,), class_body={"__doc__": text}, frozen=True, slots=True)
