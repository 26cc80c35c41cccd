"""Use case: the matches of earlier cycles that last, as the state has them."""

from __future__ import annotations

from negotiator.app.targets import current_time
from negotiator.hooks.administration import StoredMatch, StoredMatches
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.state import StateStore


def read_matches(targets: CommandTargets) -> StoredMatches:
    """Return the matches of the state.

    :raises StateError: the folder has no state, or it cannot be read.
    """
    with StateStore.read(targets.required_state) as store:
        stored = store.load(current_time(targets))
    matches = (
        StoredMatch(
            submitter=entry.submitter,
            schedd=entry.schedd,
            job=entry.job,
            slot=entry.slot,
            at=entry.at,
            shown=entry.shown,
            is_copy=entry.is_copy,
        )
        for entry in stored.journal
    )
    return StoredMatches(tuple(matches), stored.damaged)
