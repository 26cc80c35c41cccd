"""What the other negotiators of the pool recorded: their matches count in all quotas, and rows such as accounts are shared with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Final

import attrs

from negotiator.bundle.model import Bundle
from negotiator.bundle.rules import bundle_rules
from negotiator.cycle.claims import ClaimIndex
from negotiator.cycle.journal import JournalEntry
from negotiator.errors import StateError
from negotiator.runtime.journal import Journal
from negotiator.runtime.shared_order_rows import SharedOrderRows
from negotiator.runtime.state import StateStore
from negotiator.runtime.state.connection import PeerTables
from negotiator.runtime.state.cycle_rows import stored_entry

_CONSTRAINT: Final = "NEGOTIATOR_SLOT_CONSTRAINT"


@attrs.define(eq=False)
class _PeerJournal:
    """The journal of one other negotiator; ``keys`` are those of its entries by the number of their rows."""

    journal: Journal = attrs.field(factory=Journal)
    keys: dict[int, str] = attrs.field(factory=dict)
    last: int = 0  # the highest number that was read


@attrs.define(eq=False)
class PeerMatches:
    """Reads the journals of the other negotiators of the pool; an entry is parsed once.

    An entry counts until its maker removes it, or this negotiator finds that its claim has ended: what the maker found out
    about a claim is not used, since this one reads the pool at other times.
    """

    _tables: PeerTables
    shared: SharedOrderRows = attrs.field(factory=SharedOrderRows)
    _journals: dict[str, _PeerJournal] = attrs.field(factory=dict)
    _new: list[tuple[str, JournalEntry]] = attrs.field(factory=list)  # read, but not in a journal yet

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All matches of the others that count."""
        known = chain.from_iterable(each.journal.entries for each in self._journals.values())
        return (*known, *(entry for _, entry in self._new))

    def read(self) -> bool:
        """Read what the others recorded and removed; return whether they recorded anything since the last call.

        :raises StateError: it cannot be read.
        """
        return self._read(removing=True)

    def read_further(self) -> bool:
        """Read what the others recorded alone: an older view of the pool may lack what was removed.

        Shared rows are read too.
        """
        return self._read(removing=False)

    def update(self, in_use: ClaimIndex, now: float, before: float) -> None:
        """Find out which of the matches the pool shows, and leave out those that ended.

        :param now: the proven time; what was read since the last call counts as made then.
        :param before: the proven time before which a match that the pool never showed was made if it is over.
        """
        for peer, entry in self._new:
            self._journals[peer].journal.add([entry], now)
        self._new.clear()
        for each in self._journals.values():
            each.journal.update(in_use, before)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until no other negotiator records matches; see ``PeerTables.turn``."""
        with self._tables.turn():
            yield

    def _read(self, *, removing: bool) -> bool:
        last = {name: each.last for name, each in self._journals.items()}
        view = self._tables.read(last, self.shared.change, removed=removing)
        self.shared.update(view)
        for row in view.rows:
            peer = self._journals.setdefault(row.peer, _PeerJournal())
            try:
                entry = attrs.evolve(stored_entry(row.entry, row.claim), shown=False)
            except (ValueError, TypeError, RecursionError) as error:
                raise StateError(
                    f"row {row.number} of the matches of negotiator {row.peer} is damaged ({error}): no quota can be counted"
                ) from None
            peer.keys[row.number], peer.last = entry.key, max(peer.last, row.number)
            self._new.append((row.peer, entry))
        if removing:
            for name, each in self._journals.items():
                self._remove(name, each, view.numbers.get(name, frozenset()))
        return bool(view.rows)

    def _remove(self, name: str, peer: _PeerJournal, numbers: frozenset[int]) -> None:
        gone = {key for number, key in peer.keys.items() if number not in numbers}
        if gone:
            peer.keys = {number: key for number, key in peer.keys.items() if number in numbers}
            peer.journal.drop(gone)
            self._new = [(by, entry) for by, entry in self._new if by != name or entry.key not in gone]


def register_negotiator(store: StateStore | None, bundle: Bundle) -> None:
    """Let the other negotiators of the pool know the slots of this one; nothing for the only one.

    :raises StateError: the bundle has no slot constraint, or that of another negotiator.
    """
    if store is None or store.peers is None:
        return
    texts = [each.text for each in bundle_rules(bundle).rules if each.rule == _CONSTRAINT]
    if not texts:
        raise StateError(
            f"{bundle.folder}: a negotiator with a name needs {_CONSTRAINT} in its bundle: it matches these slots alone"
        )
    store.peers.register(texts[0])
