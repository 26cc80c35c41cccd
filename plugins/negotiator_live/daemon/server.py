"""Serves one connection: the handshake, the command, and what is logged of failures."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Final

import attrs

from negotiator.plugin import NegotiatorError, PoolControl, printable
from negotiator_live.daemon.access import CommandAccess
from negotiator_live.daemon.commands import HANDLERS
from negotiator_live.daemon.request import AdsReader, CommandRequest
from negotiator_live.security.errors import UnknownSessionError
from negotiator_live.security.server.handshake import AcceptedCommand, SecureServer
from negotiator_live.wire.addresses import DaemonAddress, Endpoint
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import ConnectionClosedError, DaemonError
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange

MAX_REQUEST: Final = 1 << 18
"""Bytes of a message of a peer."""

_ANSWER: Final = 0.5  # of the time of a connection: how long a command waits for its answer


@attrs.frozen
class CommandServer:
    """Carries out the commands of peers; may be used by several threads.

    ``timeout`` are the seconds for one connection. ``report`` logs a sentence about a peer. ``negotiator_ads`` returns the ads
    of this program.
    """

    secure: SecureServer
    access: CommandAccess
    control: PoolControl
    report: Callable[[str], None]
    negotiator_ads: AdsReader
    timeout: float = 20.0
    _turn: threading.Semaphore = attrs.field(factory=lambda: threading.Semaphore(1), init=False)

    def serve(self, connection: socket.socket, host: str, port: int) -> None:
        """Serve a connection from a peer at this address, and close it. Nothing is raised."""
        address = DaemonAddress(Endpoint(host, port))
        exchange = Exchange(DaemonKind.CLIENT, "", address, DaemonCommand.DC_AUTHENTICATE)
        with Channel(connection, exchange, Deadline(self.timeout)) as channel:
            channel.incoming.limit = MAX_REQUEST
            try:
                accepted = self.secure.accept(channel, self.access)
                if accepted is not None:
                    self._run(accepted, channel)
            except UnknownSessionError:
                pass  # the client begins a new one
            except ConnectionClosedError as error:
                if channel.packets.answered:  # not a mere look whether the port is open
                    self.report(str(error))
            except DaemonError as error:
                self.report(str(error))
            except NegotiatorError as error:
                self.report(f"{channel.exchange}: {printable(str(error))}")
            except Exception as error:  # noqa: BLE001 - whatever a peer sends, it costs its connection only
                self.report(
                    f"{channel.exchange}: internal error: {type(error).__name__}: {printable(str(error))}"
                )

    def _run(self, accepted: AcceptedCommand, channel: Channel) -> None:
        wait = self.timeout * _ANSWER
        request = CommandRequest(accepted, channel, self.control, wait, self.negotiator_ads, self._turn)
        HANDLERS[accepted.command](request)
