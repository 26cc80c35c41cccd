"""*Audit log*: a form, the newest records that it asks for, and a link to earlier ones."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from negotiator.app.audit import AuditPage, AuditQuery
from negotiator.app.overview import PoolOverview
from negotiator.app.record_words import KINDS, Record, record_words
from negotiator.service.pages.views.elements import Link, Moment, link, message, moment_of, shown
from negotiator.service.pages.views.sources import SourcePlace, source_place

#: Fields of the form that are texts of a query, with their labels.
TEXTS: Final = {"job": "Job or cluster", "user": "User", "queue": "Queue", "slot": "Slot", "text": "Any text"}
TIMES: Final = {"since": "Since (UTC)", "until": "Before (UTC)"}

_MOST_DEEP: Final = 20  # levels of a record
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_OF_PEOPLE: Final = frozenset({"match", "denial", "placement"})


class InvalidTimeError(ValueError):
    """A text that is no time."""


@attrs.frozen
class Field:
    """A field of the form, with what was given."""

    name: str
    label: str
    value: str


@attrs.frozen
class AuditRow:
    """A record."""

    number: str
    time: Moment | None
    kind: str
    who: Link
    what: str
    why: str
    source: SourcePlace
    details: str


@attrs.frozen(kw_only=True)
class AuditView:
    """The page. ``is_complete`` is False if the search ended before the whole log was searched."""

    kind: str
    kinds: tuple[str, ...] = KINDS
    texts: tuple[Field, ...]
    times: tuple[Field, ...]
    failure: str
    rows: tuple[AuditRow, ...] = ()
    earlier: Link | None = None
    is_complete: bool = True


def audit_query(given: Mapping[str, str]) -> AuditQuery:
    """Return what a form asks for; unknown kinds and numbers count as missing.

    :raises InvalidTimeError: a time is invalid.
    """

    def text(name: str) -> str:
        return given.get(name, "").strip()

    kind, before = text("kind"), text("before")
    return AuditQuery(
        kinds=frozenset({kind} & set(KINDS)),
        job=text("job"),
        user=text("user"),
        queue=text("queue"),
        slot=text("slot"),
        text=text("text"),
        since=_seconds(text("since")),
        until=_seconds(text("until")),
        before=int(before) if _NUMBER.fullmatch(before) else None,
    )


def audit_view(
    given: Mapping[str, str], found: AuditPage | None, failure: str, overview: PoolOverview | None
) -> AuditView:
    """Return the page.

    :param given: the fields of the form.
    :param failure: why there is no result.
    :param overview: has the bundle whose files are shown.
    """
    form: dict[str, Any] = {
        "kind": given.get("kind", ""),
        "texts": tuple(Field(name, label, message(given.get(name, ""))) for name, label in TEXTS.items()),
        "times": tuple(Field(name, label, message(given.get(name, ""))) for name, label in TIMES.items()),
        "failure": message(failure),
    }
    if found is None:
        return AuditView(**form)
    return AuditView(
        **form,
        rows=tuple(_row(record, overview) for record in found.records),
        earlier=earlier_link("audit", given, found.before),
        is_complete=found.searched,
    )


def earlier_link(page: str, given: Mapping[str, str], before: int | None) -> Link | None:
    """Return the link to earlier records of the same query; None if there are none."""
    if before is None:
        return None
    names = ("kind", *TEXTS, *TIMES)
    kept = {name: given[name] for name in names if given.get(name)}
    return link("Earlier records", page, **kept, before=str(before))


def files_of(digest: str, overview: PoolOverview | None) -> Mapping[str, bytes]:
    """Return the files of the bundle with a digest, if it is the one of now; none otherwise."""
    is_present = overview is not None and digest == overview.bundle.digest
    return overview.bundle.files if overview is not None and is_present else {}


def _row(record: Record, overview: PoolOverview | None) -> AuditRow:
    words, kind = record_words(record), str(record.get("kind", ""))
    who = (
        link(words.who, "decisions", user=words.who)
        if words.who and kind in _OF_PEOPLE
        else Link(shown(words.who))
    )
    return AuditRow(
        message(str(record.get("seq", ""))),
        moment_of(str(record.get("time", ""))),
        message(kind),
        who,
        message(words.what),
        message(words.why),
        source_place(words.source, files_of(str(record.get("bundle")), overview)),
        _details(record),
    )


def _details(record: Record) -> str:
    """Return all fields of a record as text."""
    return json.dumps(_safe(record), indent=1, ensure_ascii=False)


def _safe(value: Any, depth: int = 0) -> Any:
    """Return a value whose texts are safe to show."""
    if depth > _MOST_DEEP:
        return "…"
    if isinstance(value, Mapping):
        return {message(str(key)): _safe(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_safe(each, depth + 1) for each in value]
    return message(value) if isinstance(value, str) else value


def _seconds(text: str) -> float | None:
    """Return a time in UTC, unless it names another zone, in seconds since the epoch; None if it is missing.

    :raises InvalidTimeError: it is invalid.
    """
    if not text:
        return None
    try:
        found = dt.datetime.fromisoformat(text.removesuffix(" UTC"))
        return found.replace(tzinfo=found.tzinfo or dt.UTC).astimezone(dt.UTC).timestamp()
    except (ValueError, OverflowError):
        raise InvalidTimeError(f"invalid time {text[:40]!r}: write 2027-01-31 08:00") from None
