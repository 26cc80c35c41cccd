"""Changes what an order remembers from cycle to cycle, such as accounts, as an administrator requested it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
    order = state_manager.bundle.ordering.known.get(request.order)
    if order is None:
        return AdminAnswer(ok=False, text=f"unknown order {printable(request.order)}: its plugin is missing")
    before = state_manager.order_rows.get(request.order, {})
    settings = state_manager.bundle.settings.get(order.plugin)
    try:
        changed = _changed(order, before, request.change, settings, now)
    except ValueError as error:
        return AdminAnswer(ok=False, text=printable(str(error)))
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        raise_if_interrupted(error)
        text = (
            f"plugin {order.plugin}: the change of the order {request.order} failed: {describe_error(error)}"
        )
        return AdminAnswer(ok=False, text=printable(text))
    state_manager.order_rows = {**state_manager.order_rows, request.order: changed.rows}
    return AdminAnswer(ok=True, text=printable(changed.text))


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
