"""What the other negotiators of the pool recorded, as this one knows it.

Their matches count in all quotas. Rows that orders keep from cycle to cycle, such as accounts, are shared with them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

import attrs

from negotiator.bundle.model import Bundle
from negotiator.bundle.rules import bundle_rules
from negotiator.cycle.claims import ClaimIndex
from negotiator.cycle.journal import JournalEntry
from negotiator.errors import StateError
from negotiator.hooks.accounts import PoolNegotiators, SharedRows
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order import OrderRows
from negotiator.records.text import printable
from negotiator.runtime.journal import Journal
from negotiator.runtime.state import StateStore
from negotiator.runtime.state.connection import PeerTables, PeerView
from negotiator.runtime.state.cycle_rows import RowName, damaged_order_row, stored_entry

#: The rows of all orders by the name of the order.
RowsByOrder = Mapping[str, OrderRows]
_CONSTRAINT: Final = "NEGOTIATOR_SLOT_CONSTRAINT"


@attrs.define(eq=False)
class SharedOrderRows:
    """The shared rows as they were read or written last, with the number of their last change.

    ``damaged`` are sentences on rows that were set aside.
    """

    negotiators: PoolNegotiators = attrs.field(factory=lambda: PoolNegotiators(""))
    change: int = -1
    rows: Mapping[RowName, Mapping[str, Any]] = attrs.field(factory=dict)
    damaged: tuple[str, ...] = ()
    _checked: Bundle | None = None  # whose orders can read the rows

    def update(self, view: PeerView) -> None:
        """Take over what was read."""
        self.negotiators = PoolNegotiators(view.own, view.constraints)
        if view.shared is not None:
            self.change, self.rows, self.damaged = view.change, view.shared, view.damaged
            self._checked = None

    def written(self, rows: Mapping[RowName, Mapping[str, Any]]) -> None:
        """Take over the shared rows that this negotiator wrote."""
        if rows != self.rows:
            self.change, self.rows = self.change + 1, rows

    def begin(self, bundle: Bundle, rows: RowsByOrder) -> dict[str, OrderRows]:
        """Return the rows with which a cycle begins: those of this negotiator, and the shared ones as they are now.

        :raises StateError: the plugin of an order failed.
        """
        own, _ = self.split(bundle, rows)
        found = by_order({**own, **self._valid(bundle)})
        in_use = {*rows, *found, bundle.ordering.name}
        for order in _sharing(bundle):
            if order.name not in in_use:
                continue
            with _plugin_errors(order):
                found[order.name] = order.how.begin(found.get(order.name, {}), self.negotiators)
        return found

    def rebase(self, bundle: Bundle, left: RowsByOrder) -> dict[str, OrderRows]:
        """Return the rows that a cycle left, applied to the shared rows as they are now.

        :raises StateError: the plugin of an order failed.
        """
        current, found = self.begin(bundle, left), dict(left)
        for order in _sharing(bundle):
            if order.name in left:
                with _plugin_errors(order):
                    found[order.name] = order.how.rebase(
                        left[order.name], current[order.name], bundle.settings.get(order.plugin)
                    )
        return found

    def join(self, bundle: Bundle, own: RowsByOrder) -> dict[str, OrderRows]:
        """Return the rows to which those of a negotiator that was the only one before are added.

        :param own: its rows, of which those are added that are shared by their keys.
        :raises StateError: the plugin of an order failed.
        """
        current, (_, shared) = self.begin(bundle, own), self.split(bundle, own)
        rows = by_order(shared)
        for order in _sharing(bundle):
            if order.name in rows:
                with _plugin_errors(order):
                    current[order.name] = order.how.join(rows[order.name], current[order.name])
        return current

    @staticmethod
    def split(
        bundle: Bundle, rows: RowsByOrder
    ) -> tuple[dict[RowName, Mapping[str, Any]], dict[RowName, Mapping[str, Any]]]:
        """Return the rows of this negotiator alone, and the shared ones."""
        shares = {order.name: order.how.is_shared for order in _sharing(bundle)}
        own: dict[RowName, Mapping[str, Any]] = {}
        shared: dict[RowName, Mapping[str, Any]] = {}
        for order, each in rows.items():
            is_shared = shares.get(order)
            for key, row in each.items():
                of = shared if is_shared is not None and is_shared(key) else own
                of[order, key] = row
        return own, shared

    def _valid(self, bundle: Bundle) -> Mapping[RowName, Mapping[str, Any]]:
        """Return the shared rows; those that an order cannot read are set aside once."""
        if self._checked is not bundle:
            self.rows, damaged = valid_rows(bundle, self.rows)
            self.damaged, self._checked = (*self.damaged, *damaged), bundle
        return self.rows


def valid_rows(
    bundle: Bundle, rows: Mapping[RowName, Mapping[str, Any]]
) -> tuple[dict[RowName, Mapping[str, Any]], tuple[str, ...]]:
    """Return the rows that the orders of a bundle's plugins can read, and a sentence on each other one."""
    valid, damaged = {}, []
    for name, row in rows.items():
        order = bundle.ordering.known.get(name[0])
        try:
            if order is not None:
                order.record.check_row(name[1], row)
            valid[name] = row
        except ValueError as error:
            damaged.append(damaged_order_row(name, str(error)))
    return valid, tuple(damaged)


def by_order(rows: Mapping[RowName, Mapping[str, Any]]) -> dict[str, OrderRows]:
    """Return rows by the name of their order."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for (order, key), row in rows.items():
        found.setdefault(order, {})[key] = row
    return dict(found)


@attrs.frozen
class _SharingOrder:
    name: str
    plugin: str
    how: SharedRows


def _sharing(bundle: Bundle) -> Iterator[_SharingOrder]:
    """Yield the orders whose rows are shared."""
    for name, order in bundle.ordering.known.items():
        if order.record.sharing is not None:
            yield _SharingOrder(name, order.plugin, order.record.sharing)


@contextmanager
def _plugin_errors(order: _SharingOrder) -> Iterator[None]:
    """Raise StateError for what a plugin raises: the cycle hands out nothing."""
    try:
        yield
    except BaseException as error:
        raise_if_interrupted(error)
        text = f"plugin {order.plugin}: the shared rows of the order {order.name} failed: {describe_error(error)}"
        raise StateError(printable(text)) from error


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
