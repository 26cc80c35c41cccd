"""Changes what an order remembers from cycle to cycle, such as accounts, as an administrator requested it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from negotiator.bundle.model import Bundle
from negotiator.errors import CommandError, PluginFailureError
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.fields import check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order import OrderRows
from negotiator.hooks.order_type import RequestOrderType, RowsChange
from negotiator.records.text import printable
from negotiator.runtime.state import AdminAnswer, AdminRequest
from negotiator.runtime.state_manager import StateManager


def change_order(request: AdminRequest, state_manager: StateManager, now: float) -> AdminAnswer:
    """Let the plugin of an order change its rows, and return the answer.

    If the plugin refuses the change or fails, or a row would be damaged, nothing is changed.
    """
    before = state_manager.order_rows.get(request.order, {})
    try:
        changed = changed_rows(state_manager.bundle, request.order, before, request.change, now)
    except CommandError as error:
        return AdminAnswer(ok=False, text=str(error))
    state_manager.order_rows = {**state_manager.order_rows, request.order: changed.rows}
    return AdminAnswer(ok=True, text=printable(changed.text))


def changed_rows(bundle: Bundle, name: str, before: OrderRows, change: str, now: float) -> RowsChange:
    """Return the rows of an order after a change.

    :raises CommandError: the plugin of the order is missing, refuses the change or fails, or a row would be damaged.
    """
    order = bundle.ordering.known.get(name)
    if order is None:
        raise CommandError(f"unknown order {printable(name)}: its plugin is missing")
    try:
        return _changed(order, before, change, bundle.settings.get(order.plugin), now)
    except ValueError as error:
        raise CommandError(printable(str(error))) from None
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        raise_if_interrupted(error)
        text = f"plugin {order.plugin}: the change of the order {name} failed: {describe_error(error)}"
        raise PluginFailureError(printable(text)) from None


def _changed(
    order: Attributed[RequestOrderType], before: OrderRows, change: str, settings: Any, now: float
) -> RowsChange:
    changed = order.record.change(before, change, settings, now)
    check_exactly(changed, RowsChange, "a RowsChange")
    check_exactly(changed.text, str, "a text in a RowsChange")
    for key, row in changed.rows.items():
        if before.get(key) != row:
            _check(order.record, key, row)
    return changed


def _check(order: RequestOrderType, key: str, row: Mapping[str, Any]) -> None:
    """Check a row as the next process will find it.

    :raises ValueError: it is damaged, or cannot be stored.
    """
    order.check_row(key, json.loads(json.dumps(dict(row), allow_nan=False)))
