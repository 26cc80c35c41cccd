"""What the daemons and tools of a live pool may request of the running negotiator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

import attrs

if TYPE_CHECKING:
    from negotiator.hooks.accounts import AccountAd, AccountRequest, SlotInUse

PEER_GROUP: Final = ":peer of the pool"
"""The group of whoever requests something through ``PoolControl``, for access policies; no group of users has a colon in its name."""


@attrs.frozen
class RequestAnswer:
    """The answer to a request, for its sender. ``ok`` is None as long as a cycle runs: the request waits for its end."""

    ok: bool | None
    text: str


class PoolControl(Protocol):
    """The running negotiator, as a plugin with a ``LivePool`` uses it.

    Any thread may call its methods; none waits for a cycle, unless ``wait`` is given. Requests of administrators are those of
    ``negotiator admin`` and of commands of plugins: they are in the state and in the audit log under the name ``by``, the
    access policy of the bundle permits them, and they are carried out between two cycles.
    """

    def start_cycle(self) -> None:
        """Start the next cycle now (HTCondor's RESCHEDULE), or as soon as the present one has ended."""

    def accounts(self, *, rollup: bool = False) -> Sequence[AccountAd]:
        """Return the accounts of the bundle's order, as of the last cycle or change.

        :param rollup: let accounting groups have the sums of the groups below them.
        :raises CommandError: the order keeps no accounts, or there is no state.
        :raises StateError: the state cannot be read.
        """

    def resources(self, submitter: str) -> Sequence[SlotInUse]:
        """Return the slots that a submitter uses, as of the last cycle.

        :raises CommandError: the order keeps no accounts, or there is no state.
        :raises StateError: the state cannot be read.
        """

    def change_account(self, by: str, request: AccountRequest, wait: float = 0.0) -> RequestAnswer:
        """Request a change of an account.

        :param by: who requests it, for the access policy and the audit log.
        :param wait: seconds to wait for the answer.
        :raises CommandError: the request is invalid, the order keeps no accounts, or there is no state.
        :raises StateError: the state cannot be written; nothing was requested.
        """

    def reload(self, by: str, wait: float = 0.0) -> RequestAnswer:
        """Request that the bundle is loaded again.

        :raises CommandError: there is no state.
        :raises StateError: the state cannot be written; nothing was requested.
        """

    def notice(self, text: str) -> None:
        """Log a sentence, such as a command that was denied, and who sent it. Too many of them in a short time are only counted."""

    def stop(self) -> None:
        """End the negotiator as a SIGTERM does: the present cycle ends before its next turn, and no other one starts."""

    @property
    def is_ending(self) -> bool:
        """True once the negotiator is to end: ``LivePool.fetch`` can stop, for no cycle will use what it fetches."""

    def note_progress(self) -> None:
        """Note that the pool gets on with a call that takes seconds, such as a daemon that has answered.

        The negotiator itself does so at each turn of a cycle, and each second between two cycles.
        """

    def idle_seconds(self) -> float:
        """Return the seconds since progress was last noted: many of them if the negotiator hangs."""
