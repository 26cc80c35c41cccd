"""The contract between an order that remembers something from cycle to cycle, and several negotiators of one pool that share it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

if TYPE_CHECKING:
    from negotiator.hooks.order import OrderRows


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
