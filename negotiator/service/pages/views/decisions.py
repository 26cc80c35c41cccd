"""*Decisions*: the matches and denials of a job, a user, a queue or a slot, with all reasons and counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import attrs

from negotiator.app.audit import AuditPage
from negotiator.app.overview import PoolOverview
from negotiator.service.pages.views.audit import Field, details_of, earlier_link, files_of
from negotiator.service.pages.views.elements import Link, Moment, link, message, moment_of, queue_link
from negotiator.service.pages.views.record_words import Record, decisive_reason, job_names, record_words
from negotiator.service.pages.views.sources import SourcePlace, source_place

#: Fields of the form, with their labels.
FIELDS: Final = {"job": "Job or cluster", "user": "User", "queue": "Queue", "slot": "Slot"}


@attrs.frozen
class ReasonRow:
    """A reason: its rule and place, and the slots that it removed. ``is_decisive``: it removed the last ones."""

    is_decisive: bool
    verdict: str
    mode: str
    text: str
    rule: str
    source: SourcePlace
    removed: str
    rejected: str


@attrs.frozen
class DecisionRow:
    """A decision, and how often it was taken with the same reasons: ``since`` is the first time of these records."""

    time: Moment | None
    since: Moment | None
    times: int
    is_match: bool
    who: Link
    queue: Link
    what: str
    jobs: str
    slot: str
    candidates: str
    matched: str
    reasons: tuple[ReasonRow, ...]
    left_out: int
    details: str


@attrs.frozen(kw_only=True)
class DecisionsView:
    """The page. ``is_filtered`` is False if nothing was given: then these are the newest decisions of all."""

    fields: tuple[Field, ...]
    is_filtered: bool
    failure: str
    rows: tuple[DecisionRow, ...] = ()
    earlier: Link | None = None
    is_complete: bool = True


def decisions_view(
    given: Mapping[str, str], found: AuditPage | None, failure: str, overview: PoolOverview | None
) -> DecisionsView:
    """Return the page; its parameters are those of ``audit_view``."""
    form: dict[str, Any] = {
        "fields": tuple(Field(name, label, message(given.get(name, ""))) for name, label in FIELDS.items()),
        "is_filtered": any(given.get(name) for name in FIELDS),
        "failure": message(failure),
    }
    if found is None:
        return DecisionsView(**form)
    alike: dict[Hashable, list[Record]] = {}
    for record in found.records:
        alike.setdefault(_key(record), []).append(record)
    return DecisionsView(
        **form,
        rows=tuple(_row(records, overview) for records in alike.values()),
        earlier=earlier_link("decisions", given, found.before),
        is_complete=found.searched,
    )


def _key(record: Record) -> Hashable:
    """Return what denials of the same jobs for the same reasons have in common; a match is alone."""
    if record.get("kind") != "denial":
        return str(record.get("seq"))
    reasons = tuple(str((each.get("text"), each.get("provenance"))) for each in _reasons(record))
    names = ("bundle", "submitter", "schedd", "queue", "job_ids", "first_job", "decisive")
    return (*(str(record.get(name)) for name in names), reasons)


def _reasons(record: Record) -> list[Record]:
    found = record.get("reasons")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _row(records: list[Record], overview: PoolOverview | None) -> DecisionRow:
    """Return the newest of records that are alike, with the first time of all."""
    record = records[0]
    words, is_match = record_words(record), record.get("kind") == "match"
    queue = str(record.get("queue") or "")
    files = files_of(record, overview)
    decisive = decisive_reason(record)
    rows = [_reason(each, files, is_decisive=each is decisive) for each in _all_reasons(record)]
    rows.sort(key=lambda each: not each.is_decisive)
    return DecisionRow(
        moment_of(str(record.get("time", ""))),
        moment_of(str(records[-1].get("time", ""))) if len(records) > 1 else None,
        len(records),
        is_match,
        link(words.who, "decisions", user=words.who) if words.who else Link(""),
        queue_link(queue) if queue else Link(""),
        message(words.what),
        message(job_names(record)),
        message(str(record.get("slot") or "")),
        message(str(record.get("candidates", ""))),
        message(str(record.get("matched", ""))),
        tuple(rows),
        record["reasons_left_out"] if isinstance(record.get("reasons_left_out"), int) else 0,
        details_of(record),
    )


def _all_reasons(record: Record) -> list[Record]:
    """Return the reasons of a denial; of a match that of the slot, and those of rules that would have denied it."""
    if record.get("kind") != "match":
        return _reasons(record)
    found = [record.get("reason"), *(record.get("warnings") or ())]
    return [each for each in found if isinstance(each, Mapping)]


def _reason(reason: Record, files: Mapping[str, bytes], *, is_decisive: bool) -> ReasonRow:
    origin = reason.get("provenance")
    provenance: Record = origin if isinstance(origin, Mapping) else {}
    return ReasonRow(
        is_decisive,
        message(str(reason.get("verdict") or "")),
        message(str(reason.get("mode") or "")),
        message(str(reason.get("text") or "")),
        message(": ".join(filter(None, (str(provenance.get(name) or "") for name in ("plugin", "rule"))))),
        source_place(str(provenance.get("source") or ""), files),
        _number(reason.get("removed")),
        _number(reason.get("rejected")),
    )


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else ""
