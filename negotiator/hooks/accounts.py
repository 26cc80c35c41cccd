"""The contract between an order that keeps accounts of submitters, and the commands and daemons that show and change them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    from negotiator.hooks.order import OrderRows


class AccountChangeKind(enum.StrEnum):
    """What an administrator changes: the words of condor_userprio."""

    PRIORITY = "setprio"
    FACTOR = "setfactor"
    CEILING = "setceiling"
    FLOOR = "setfloor"
    ACCUMULATED = "setaccum"
    BEGIN = "setbegin"
    LAST = "setlast"
    CANCEL_CEILING = "cancelceilinglease"
    CANCEL_FLOOR = "cancelfloorlease"
    CANCEL_FACTOR = "cancelfactorlease"
    RESET = "resetusage"
    RESET_ALL = "resetall"
    DELETE = "delete"


@attrs.frozen
class AccountRequest:
    """An administrator's request to change an account: its name (``user@domain``; empty for RESET_ALL), and the new value.

    ``duration`` are the seconds of a lease of a factor, ceiling or floor; 0 changes it for good. The order decides which
    values it accepts.
    """

    kind: AccountChangeKind
    account: str = ""
    value: float | None = None
    duration: int = 0


#: An account as HTCondor's tools show it: values by the names of Accounting ads, ``Name`` among them.
AccountAd: TypeAlias = Mapping[str, str | int | float | bool]


@attrs.frozen
class SlotInUse:
    """A slot that a submitter uses: its name with the address of its startd (``NAME@ADDRESS``), and when it was counted last.

    The time is in seconds since the epoch.
    """

    name: str
    since: int


def _no_slots(rows: OrderRows, submitter: str) -> Iterable[SlotInUse]:
    del rows, submitter
    return ()


#: Reports accounts: called with the rows of the order, the settings of its plugin, and whether groups have the sums of the
#: groups below them. Damaged rows are left out.
AccountsReporter: TypeAlias = "Callable[[OrderRows, Any, bool], Iterable[AccountAd]]"


@attrs.frozen(kw_only=True)
class OrderAccounts:
    """The accounts that an order keeps.

    ``report`` returns an ad for each account: accounting groups first, each after the group above it. ``change_text`` returns
    the text with which ``change`` of the ``RequestOrderType`` is called, and raises ValueError if the request is invalid.
    ``resources`` returns the slots that a submitter uses, of the rows of the order. All are called in any thread.
    """

    report: AccountsReporter
    change_text: Callable[[AccountRequest], str]
    resources: Callable[[OrderRows, str], Iterable[SlotInUse]] = _no_slots
