"""The state of a negotiator between cycles: matches, queues, applications and requests of administrators."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final, Self

import attrs

from negotiator.bundle.model import Bundle
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.state_values import (
    from_entry,
    from_holds,
    from_overruns,
    from_queues,
    from_registry,
    to_entry,
    to_holds,
    to_overruns,
    to_queues,
    to_registry,
)
from negotiator.errors import NegotiatorError
from negotiator.hooks.order import OrderRows
from negotiator.hooks.overruns import Overrun
from negotiator.queues import QueueTree
from negotiator.queues.applications import ApplicationHold, ApplicationId, ApplicationRegistry

FORMAT: Final = "negotiator-cycle-state 3"
"""The first value of an encoded state; another format or version is refused."""

_DAMAGED = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


class CycleStateError(NegotiatorError):
    """Bytes that are not an encoded cycle state."""


@attrs.frozen
class CycleState:
    """The queues, the applications in them, those that are held, the journal, and the groups of users.

    A user missing from ``groups`` is in no group. None means that the groups could not be resolved because a plugin
    failed: applications that depend on them are rejected. ``shared``: other negotiators serve the pool too, and share its limits.
    ``overruns`` are the rules that something in use broke in the last cycle, each with the time since when. ``costly_owners`` come after other
    owners where the steps of evaluation are not enough for all (``WorkAccounts.costly_owners``).
    A cycle never changes a state: its result has the next one.
    """

    queues: QueueTree
    registry: ApplicationRegistry = attrs.field(factory=ApplicationRegistry)
    held: Mapping[ApplicationId, ApplicationHold] = attrs.field(factory=dict)
    journal: tuple[JournalEntry, ...] = ()  # matches not yet visible in the pool, oldest first
    groups: Mapping[str, tuple[str, ...] | None] = attrs.field(factory=dict)
    order_rows: Mapping[str, OrderRows] = attrs.field(factory=dict)  # of allocators, by the name of the order
    shared: bool = False
    overruns: tuple[Overrun, ...] = ()
    costly_owners: tuple[str, ...] = ()

    @classmethod
    def new(cls, bundle: Bundle, now: float) -> Self:
        """Return the first state: the configured queues, and nothing in them."""
        return cls(QueueTree.of(bundle.partition.root, now))

    def under(self, bundle: Bundle, now: float) -> Self:
        """Return the state as a reload of another bundle leaves it: with its queues; placed applications stay where they are."""
        queues = self.queues.mutable()
        queues.apply(bundle.partition.root, now)
        queues.clean(self.registry.busy(), now)
        return attrs.evolve(self, queues=queues.view)

    def after(
        self,
        entries: tuple[JournalEntry, ...],
        order: str,
        rows: OrderRows | None,
        overruns: tuple[Overrun, ...] = (),
        costly_owners: tuple[str, ...] = (),
    ) -> Self:
        """Return the state with further matches in its journal, and the rows that the allocator of an order left.

        :param rows: None leaves them as they are; those of other orders stay.
        :param overruns: those of the cycle.
        :param costly_owners: those of the next cycle.
        """
        journal = (*self.journal, *entries)
        kept = self.order_rows if rows is None else {**self.order_rows, order: rows}
        return attrs.evolve(
            self, journal=journal, order_rows=kept, overruns=overruns, costly_owners=costly_owners
        )

    def encode(self) -> bytes:
        """Return the canonical form: JSON in UTF-8 (lone surrogates included), equal for equal states."""
        values = {
            "format": FORMAT,
            "queues": from_queues(self.queues),
            "applications": from_registry(self.registry),
            "held": from_holds(self.held),
            "journal": list(map(from_entry, self.journal)),
            "groups": dict(self.groups),
            "orders": {
                order: {key: dict(row) for key, row in rows.items()}
                for order, rows in self.order_rows.items()
            },
        }
        if self.shared:
            values["shared"] = True
        if self.overruns:
            values["overruns"] = from_overruns(self.overruns)
        if self.costly_owners:
            values["costly_owners"] = list(self.costly_owners)
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Return the state that was encoded.

        :raises CycleStateError: the bytes are damaged, or of another format or version.
        """
        try:
            values = json.loads(data.decode("utf-8", "surrogatepass"))
            found = values["format"]
            state = cls._of(values) if found == FORMAT else None
            # The readers check no types: a value that they tolerate by mistake is encoded differently.
            is_canonical = state is not None and state.encode() == data
        except _DAMAGED as error:
            raise CycleStateError(f"invalid cycle state: {type(error).__name__}: {error}") from None
        if state is None:
            raise CycleStateError(f"invalid cycle state: its format is {str(found)[:60]!r}, not {FORMAT!r}")
        if not is_canonical:
            raise CycleStateError("invalid cycle state: not in canonical form; encode it anew")
        return state

    @property
    def digest(self) -> str:
        """The sha256 of the canonical form, in hexadecimal."""
        return hashlib.sha256(self.encode()).hexdigest()

    @classmethod
    def _of(cls, values: dict[str, Any]) -> Self:
        return cls(
            to_queues(values["queues"]),
            to_registry(values["applications"]),
            to_holds(values["held"]),
            tuple(map(to_entry, values["journal"])),
            {
                user: None if groups is None else tuple(groups)
                for user, groups in dict(values["groups"]).items()
            },
            {
                order: {key: dict(row) for key, row in dict(rows).items()}
                for order, rows in dict(values["orders"]).items()
            },
            values.get("shared", False),
            to_overruns(values.get("overruns", [])),
            tuple(map(str, values.get("costly_owners", []))),
        )
