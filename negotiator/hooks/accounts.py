"""The contract between an order that remembers something from cycle to cycle, such as accounts of submitters, and those who use it.

Commands and daemons show and change accounts; several negotiators of one pool share them.
"""

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


@attrs.frozen
class PoolNegotiators:
    """The negotiators of a pool: the name of this one, and the text of the slot constraint of each by its name.

    The text is empty for one that never ran.
    """

    own: str
    constraints: Mapping[str, str] = attrs.field(factory=dict)


#: Returns the rows with which a cycle begins: called with all rows, and the negotiators of the pool.
RowsBeginner: TypeAlias = "Callable[[OrderRows, PoolNegotiators], OrderRows]"

#: Returns the rows that are stored: called with the rows that a cycle left, those with which it would begin now, and the settings of the
#: plugin.
RowsRebaser: TypeAlias = "Callable[[OrderRows, OrderRows, Any], OrderRows]"

#: Returns rows to which others were added: called with the latter, and with those with which a cycle would begin.
RowsJoiner: TypeAlias = "Callable[[OrderRows, OrderRows], OrderRows]"


@attrs.frozen(kw_only=True)
class SharedRows:
    """How several negotiators of one pool share the rows of an order.

    ``is_shared`` is called with the key of a row: rows for which it is true are those of all negotiators, the others are of one of
    them. ``begin`` adds what a cycle needs to know of the negotiators of the pool.

    Cycles of several negotiators overlap. If another one has changed shared rows since a cycle began, and made no matches, ``rebase``
    applies what the cycle left to the rows as they are now. ``join`` adds the rows of a negotiator that was the only one before. No negotiator
    changes shared rows meanwhile. An exception of any of them ends the cycle, which hands nothing out.

    Example, of an order that counts turns: each negotiator counts in a row of its own, and reads those of all::

        def begin(rows, negotiators):
            return {**rows, "own": {"name": negotiators.own}}  # its key is not shared


        def rebase(left, current, settings):
            mine = "turns:" + left["own"]["name"]
            return {**current, mine: left[mine]}


        SharedRows(
            is_shared=lambda key: key.startswith("turns:"),
            begin=begin,
            rebase=rebase,
            join=lambda own, current: {**current, **own},
        )
    """

    is_shared: Callable[[str], bool]
    begin: RowsBeginner
    rebase: RowsRebaser
    join: RowsJoiner
