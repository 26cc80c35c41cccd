"""Carries out what the daemons and tools of a live pool request, from any thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import attrs

from negotiator.bundle import Bundle
from negotiator.errors import CommandError
from negotiator.hooks.accounts import AccountAd, AccountRequest, OrderAccounts, SlotInUse
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order_type import RequestOrderType
from negotiator.hooks.pool_source import PEER_GROUP, PoolControl, RequestAnswer
from negotiator.hooks.state_location import StateLocation
from negotiator.records.text import printable
from negotiator.runtime.cycle_timer import CycleTrigger
from negotiator.runtime.notices import Notices
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore

_POLL: Final = 0.1  # seconds between two looks for an answer
_WAITS: Final = "the request is in the state: it is carried out as soon as the present cycle has ended"
_ENDS: Final = "the request is in the state: the negotiator ends, and carries it out when it is started again"


@attrs.frozen
class PoolRequests:
    """Implements ``PoolControl``: requests go through the state, which each call opens for its thread.

    :param bundle: returns the bundle that is in force.
    :param state: where the state is; None without one.
    :param clock: returns the time in seconds since the epoch.
    """

    bundle: Callable[[], Bundle]
    state: StateLocation | None
    trigger: CycleTrigger
    clock: Callable[[], float] = time.time
    notices: Notices = attrs.field(factory=Notices)

    def start_cycle(self) -> None:
        """Start the next cycle now, or as soon as the present one has ended."""
        self.trigger.start_cycle()

    def accounts(self, *, rollup: bool = False) -> Sequence[AccountAd]:
        """See ``PoolControl.accounts``."""
        order, accounts, settings = self._accounts()
        with StateStore.read(self._location()) as store:
            rows, _ = store.order_rows(order.record.name)
        with _plugin_errors(order):
            return tuple(accounts.report(rows, settings, rollup))

    def resources(self, submitter: str) -> Sequence[SlotInUse]:
        """See ``PoolControl.resources``."""
        order, accounts, _ = self._accounts()
        with StateStore.read(self._location()) as store:
            rows, _ = store.order_rows(order.record.name)
        with _plugin_errors(order):
            return tuple(accounts.resources(rows, submitter))

    def change_account(self, by: str, request: AccountRequest, wait: float = 0.0) -> RequestAnswer:
        """See ``PoolControl.change_account``."""
        order, accounts, _ = self._accounts()
        try:
            with _plugin_errors(order):
                change = accounts.change_text(request)
        except ValueError as error:
            raise CommandError(printable(str(error))) from error
        return self._request(by, AdminAction.CHANGE_ORDER, wait, order.record.name, change)

    def reload(self, by: str, wait: float = 0.0) -> RequestAnswer:
        """See ``PoolControl.reload``."""
        return self._request(by, AdminAction.RELOAD, wait)

    def notice(self, text: str) -> None:
        """See ``PoolControl.notice``."""
        self.notices.add(text)

    def stop(self) -> None:
        """End the negotiator as a SIGTERM does."""
        self.trigger.end()

    @property
    def is_ending(self) -> bool:
        """See ``PoolControl.is_ending``."""
        return self.trigger.is_ending

    def note_progress(self) -> None:
        """See ``PoolControl.note_progress``."""
        self.trigger.work.note()

    def idle_seconds(self) -> float:
        """See ``PoolControl.idle_seconds``."""
        return self.trigger.work.idle_seconds()

    def _request(
        self, by: str, action: AdminAction, wait: float, order: str = "", change: str = ""
    ) -> RequestAnswer:
        """Write a request to the state, and wait for the answer."""
        end = time.monotonic() + wait
        request = AdminRequest(0, self.clock(), by, (PEER_GROUP,), action, order=order, change=change)
        with StateStore.open(self._location()) as store:
            number = store.request(request)
            self.trigger.wake()
            while (answer := store.answered(number)) is None and time.monotonic() < end:
                if self.trigger.is_ending:
                    return RequestAnswer(None, _ENDS)
                time.sleep(_POLL)
        return RequestAnswer(None, _WAITS) if answer is None else RequestAnswer(answer.ok, answer.text)

    def _location(self) -> StateLocation:
        if self.state is None:
            raise CommandError("this negotiator keeps no state: start it with --state FOLDER")
        StateStore.require(self.state)
        return self.state

    def _accounts(self) -> tuple[Attributed[RequestOrderType], OrderAccounts, object]:
        """Return the order of the bundle with its accounts, and the settings of its plugin."""
        ordering = self.bundle().ordering
        if ordering.chosen is None or ordering.chosen.record.accounts is None:
            raise CommandError(f"order: {ordering.name} keeps no accounts")
        return ordering.chosen, ordering.chosen.record.accounts, ordering.settings


@contextmanager
def _plugin_errors(order: Attributed[RequestOrderType]) -> Iterator[None]:
    """Raise CommandError for what a plugin raises, except ValueError."""
    try:
        yield
    except ValueError:
        raise
    except BaseException as error:
        raise_if_interrupted(error)
        raise CommandError(f"plugin {order.plugin}: the accounts failed: {describe_error(error)}") from error


#: Lets mypy check that the runtime offers what plugins are promised.
_checked: type[PoolControl] = PoolRequests
