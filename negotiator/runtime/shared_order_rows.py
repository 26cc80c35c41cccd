"""The rows of orders that all negotiators of a pool share, such as accounts, as this one knows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from negotiator.bundle.model import Bundle
from negotiator.errors import StateError
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order import OrderRows
from negotiator.hooks.shared_rows import PoolNegotiators, SharedRows
from negotiator.records.text import printable
from negotiator.runtime.state.connection import PeerView
from negotiator.runtime.state.cycle_rows import RowName, damaged_order_row

#: The rows of all orders by the name of the order.
RowsByOrder = Mapping[str, OrderRows]


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
