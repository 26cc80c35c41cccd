"""A command that a peer may send, as its handler gets it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import attrs

from negotiator.plugin import AccountRequest, CommandError, PoolControl, RequestAnswer
from negotiator_live.security.server.handshake import AcceptedCommand
from negotiator_live.wire.ads import WireAd
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand

#: Returns ads, texts of expressions by name.
AdsReader: TypeAlias = Callable[[], Sequence[Mapping[str, str]]]


@attrs.frozen
class CommandRequest:
    """A command and its connection.

    ``wait`` are the seconds that a peer waits for an answer. ``negotiator_ads`` returns the ads of this program, texts of
    expressions by name. ``turn`` is taken by what needs much of the processor, or reads the whole state.
    """

    accepted: AcceptedCommand
    channel: Channel
    control: PoolControl
    wait: float
    negotiator_ads: AdsReader
    turn: threading.Semaphore = attrs.field(factory=lambda: threading.Semaphore(1))

    @property
    def command(self) -> DaemonCommand:
        """The command."""
        return self.accepted.command

    @property
    def user(self) -> str:
        """The name of the peer, for the access policy and the records."""
        return self.accepted.peer.name

    def end_without_message(self) -> None:
        """Finish a command that has no message: in a session an empty one is not even sent."""
        if not self.accepted.in_session:
            self.channel.end_received()

    def ad(self) -> WireAd:
        """Return the ad that is the message."""
        found = self.channel.get_ad()
        self.channel.end_received()
        return found

    def reply(self, ad: Mapping[str, str], *, types: bool = True) -> None:
        """Send an ad as the answer."""
        self.channel.put_ad(ad, types=types)
        self.channel.end_message()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Return a context in which no other command computes: anybody may send queries, and a cycle needs the processor.

        No message is to be sent or received in it: a peer that stalls would delay the others.

        :raises CommandError: other commands computed until the deadline of this connection.
        """
        if not self.turn.acquire(timeout=max(self.channel.deadline.remaining(), 0.0)):
            raise CommandError(
                "other queries took all the time; send fewer of them, or raise timeout of htcondor:"
            )
        try:
            yield
        finally:
            self.turn.release()

    def change(self, change: AccountRequest, wait: float = 0.0) -> RequestAnswer:
        """Request the change of an account.

        :raises NegotiatorError: it is invalid, or cannot be requested.
        """
        return self.control.change_account(self.user, change, wait)


#: Carries out a command: raises ``DaemonError`` if the peer fails, another ``NegotiatorError`` if the command does.
CommandHandler: TypeAlias = Callable[[CommandRequest], None]
