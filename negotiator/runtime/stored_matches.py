"""The matches of earlier cycles, as commands and daemons get them."""

from __future__ import annotations

from collections.abc import Iterable

from negotiator.cycle.journal import JournalEntry
from negotiator.hooks.administration import StoredMatch


def stored_matches(journal: Iterable[JournalEntry]) -> tuple[StoredMatch, ...]:
    """Return the matches of a journal, in its order."""
    return tuple(
        StoredMatch(
            submitter=entry.submitter,
            schedd=entry.schedd,
            job=entry.job,
            slot=entry.slot,
            at=entry.at,
            shown=entry.shown,
            is_copy=entry.is_copy,
        )
        for entry in journal
    )
