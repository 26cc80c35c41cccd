"""*Decisions*: the matches and denials of a job, a user, a queue or a slot, with all reasons and counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

import attrs

from negotiator.app.decisions import Decision, DecisionPage, DecisionReason
from negotiator.app.overview import PoolOverview
from negotiator.app.record_words import job_names
from negotiator.service.pages.views.audit import Field, earlier_link, files_of
from negotiator.service.pages.views.elements import Link, Moment, link, message, moment_of, queue_link
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
    """A decision, and how often it was taken with the same reasons: ``since`` is the first time of these records.

    ``why`` leads to what keeps the first job of a denial now.
    """

    time: Moment | None
    since: Moment | None
    times: int
    is_match: bool
    who: Link
    queue: Link
    what: str
    candidates: str
    matched: str
    is_decided: bool
    reasons: tuple[ReasonRow, ...]
    left_out: int
    record: Link
    why: Link | None


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
    given: Mapping[str, str], found: DecisionPage | None, failure: str, overview: PoolOverview | None
) -> DecisionsView:
    """Return the page; its parameters are those of ``audit_view``."""
    form: dict[str, Any] = {
        "fields": tuple(Field(name, label, message(given.get(name, ""))) for name, label in FIELDS.items()),
        "is_filtered": any(given.get(name) for name in FIELDS),
        "failure": message(failure),
    }
    if found is None:
        return DecisionsView(**form)
    alike: dict[Hashable, list[Decision]] = {}
    for decision in found.decisions:
        alike.setdefault(_key(decision), []).append(decision)
    return DecisionsView(
        **form,
        rows=tuple(_row(decisions, overview) for decisions in alike.values()),
        earlier=earlier_link("decisions", given, found.before),
        is_complete=found.searched,
    )


def _key(decision: Decision) -> Hashable:
    """Return what denials of the same jobs for the same reasons have in common; a match is alone."""
    if decision.slot:
        return decision.record
    reasons = tuple((each.text, each.source, each is decision.reason) for each in decision.reasons)
    names = (decision.bundle, decision.submitter, decision.schedd, decision.queue, decision.job_ids)
    return (*names, reasons)


def _row(decisions: list[Decision], overview: PoolOverview | None) -> DecisionRow:
    """Return the newest of decisions that are alike, with the first time of all."""
    newest, is_match = decisions[0], bool(decisions[0].slot)
    files = files_of(newest.bundle, overview)
    who = newest.user or newest.submitter
    reasons = [*([newest.reason] if is_match and newest.reason else ()), *newest.reasons]
    rows = [_reason(each, files, is_decisive=each is newest.reason) for each in reasons]
    rows.sort(key=lambda each: not each.is_decisive)
    jobs = job_names(newest.job_ids)
    lost = f"{newest.jobs:,} {'job' if newest.jobs == 1 else 'jobs'} got no slot: {jobs}"
    return DecisionRow(
        moment_of(newest.time),
        moment_of(decisions[-1].time) if len(decisions) > 1 else None,
        len(decisions),
        is_match,
        link(who, "decisions", user=who) if who else Link(""),
        queue_link(newest.queue) if newest.queue else Link(""),
        message(f"job {jobs} got {newest.slot}" if is_match else lost),
        f"{newest.candidates:,}",
        f"{newest.matched:,}" if newest.matched else "",
        newest.reason is not None,
        tuple(rows),
        newest.reasons_left_out,
        link(f"record {newest.record}", "audit", before=str(newest.record + 1)),
        None if is_match else _why(newest),
    )


def _why(denial: Decision) -> Link:
    first = denial.job_ids[0].partition("-")[0] if denial.job_ids else ""
    job = f"{denial.schedd}#{first}" if denial.schedd else first
    return link(f"why job {first} waits now", "why", job=job)


def _reason(reason: DecisionReason, files: Mapping[str, bytes], *, is_decisive: bool) -> ReasonRow:
    return ReasonRow(
        is_decisive,
        message(reason.verdict),
        message(reason.mode),
        message(reason.text),
        message(": ".join(filter(None, (reason.plugin, reason.rule)))),
        source_place(reason.source, files),
        f"{reason.removed:,}",
        f"{reason.rejected:,}",
    )
