"""What fails between this program and a daemon: each message names the daemon, its address and the command."""

from __future__ import annotations

from negotiator.plugin import PoolError
from negotiator_live.wire.commands import authorization
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange


class DaemonError(PoolError):
    """An exchange with a daemon failed.

    ``exchange`` names the daemon and the command, ``problem`` is what went wrong, ``hint`` what to do.
    """

    def __init__(self, exchange: Exchange, problem: str, hint: str = "") -> None:
        self.exchange = exchange
        self.problem = problem
        self.hint = hint
        super().__init__(exchange, problem, hint)

    def __str__(self) -> str:
        return f"{self.exchange}: {self.problem}" + (f"; {self.hint}" if self.hint else "")


class UnreachableError(DaemonError):
    """No connection to the daemon could be made."""


class TimedOutError(DaemonError):
    """The daemon did not answer within the time limit of the exchange."""


class ConnectionClosedError(DaemonError):
    """The daemon closed the connection before the exchange was over."""


class MalformedMessageError(DaemonError):
    """The daemon sent something that the protocol does not allow, or that is over a limit."""


class UnsendableError(DaemonError):
    """A message cannot be represented in the protocol, such as a text with a NUL."""


def malformed(exchange: Exchange, problem: str) -> MalformedMessageError:
    """Return the error of a message that is invalid or over a limit."""
    if exchange.daemon is DaemonKind.CLIENT:
        return MalformedMessageError(exchange, problem)
    hint = f"make sure that a {exchange.daemon} of HTCondor listens at this address"
    return MalformedMessageError(exchange, problem, hint)


def timed_out(exchange: Exchange, deadline: Deadline, doing: str) -> TimedOutError:
    """Return the error of a daemon that did not answer in time."""
    daemon = exchange.daemon
    problem = f"no answer within {deadline.seconds:g} s while {doing}"
    if daemon is DaemonKind.CLIENT:
        return TimedOutError(exchange, problem)
    return TimedOutError(
        exchange, problem, f"its {daemon.log} shows whether the {daemon} is overloaded or hangs"
    )


def closed(exchange: Exchange, *, answered: bool, in_handshake: bool = False) -> ConnectionClosedError:
    """Return the error of a connection that the daemon closed, most often because it denied the command."""
    if exchange.daemon is DaemonKind.CLIENT:
        return ConnectionClosedError(exchange, "the connection was closed before the command was complete")
    if in_handshake and answered:
        return ConnectionClosedError(
            exchange,
            "the connection was closed in the security handshake",
            f"its {exchange.daemon.log} has the reason, such as a failed authentication (DC_AUTHENTICATE)",
        )
    if answered:
        return ConnectionClosedError(exchange, "the connection was closed in the middle of the answer")
    daemon, level = exchange.daemon, authorization(exchange.command)
    return ConnectionClosedError(
        exchange,
        "the connection was closed without an answer",
        f"the command needs {level} authorization: if its {daemon.log} has PERMISSION DENIED, add this client to"
        f" ALLOW_{level} in the configuration of the {daemon}",
    )
