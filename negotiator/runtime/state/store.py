"""The state of a negotiator on disk, as the runtime and the use cases read and write it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from negotiator.cycle.holds import ApplicationHold
from negotiator.cycle.journal import JournalEntry
from negotiator.queues import QueueTree
from negotiator.queues.applications import ApplicationId, RegisteredApplication
from negotiator.runtime.state import admin_request_rows, cycle_rows
from negotiator.runtime.state.admin_request_rows import AdminAnswer, AdminRequest
from negotiator.runtime.state.cycle_rows import StoredState
from negotiator.runtime.state.database import StateDatabase


@attrs.define(eq=False)
class StateStore(StateDatabase):
    """An open database of state.

    Each method is one transaction: it raises StateError if it cannot read or write, and nothing was written then.
    """

    def load(self, now: float) -> StoredState:
        """Read the state.

        An application without a time was in the last snapshot: it was seen then, or at ``now`` if there was no snapshot.
        """
        with self._reading() as db:
            return cycle_rows.read_rows(db, now)

    def save(
        self,
        changed: Iterable[RegisteredApplication],
        gone: Iterable[ApplicationId],
        held: Iterable[tuple[ApplicationId, ApplicationHold]],
        *,
        queues: QueueTree | None = None,
        answered: tuple[int, AdminAnswer] | None = None,
        matches: Iterable[JournalEntry] = (),
        last: float = 0.0,
    ) -> None:
        """Write the changes in one transaction.

        :param changed: applications to add or replace.
        :param gone: applications to remove.
        :param held: all holds.
        :param queues: all queues; None leaves them as they are.
        :param answered: the number of a request and its answer.
        :param matches: journal entries to add.
        :param last: the time of the last snapshot, in seconds since the epoch.
        :raises StateError: nothing was written.
        """
        with self._writing() as db:
            if queues is not None:
                cycle_rows.write_queues(db, queues)
            cycle_rows.write_applications(db, changed, gone, last)
            cycle_rows.write_holds(db, held)
            cycle_rows.add_matches(db, matches)
            if answered:
                admin_request_rows.write_answer(db, *answered)

    def drop_matches(self, keys: Collection[str]) -> None:
        """Remove journal entries by their keys."""
        with self._writing() as db:
            cycle_rows.remove_matches(db, keys)

    def update_matches(self, changed: Iterable[JournalEntry], gone: Collection[str]) -> None:
        """Replace journal entries, and remove others by their keys."""
        with self._writing() as db:
            cycle_rows.replace_matches(db, changed)
            cycle_rows.remove_matches(db, gone)

    def request(self, request: AdminRequest) -> int:
        """Add a request of an administrator, and return the number that it gets."""
        with self._writing() as db:
            return admin_request_rows.add_request(db, request)

    def waiting(self) -> tuple[AdminRequest, ...]:
        """Return the requests without an answer, in the order of their numbers."""
        with self._reading() as db:
            return tuple(admin_request_rows.waiting_requests(db))

    def answer(self, number: int, answer: AdminAnswer) -> None:
        """Write the answer to a request."""
        with self._writing() as db:
            admin_request_rows.write_answer(db, number, answer)

    def answered(self, number: int) -> AdminAnswer | None:
        """Return the answer to a request; None before it is answered."""
        with self._reading() as db:
            return admin_request_rows.read_answer(db, number)
