"""The commands that change accounts: what condor_userprio and ``htcondor2.Negotiator`` send.

What peers are answered is in the words of condor_negotiator, which scripts search for. A command without an answer is over as soon as its request is in the state, which a crash survives. One with an answer waits
for it, but not for the end of a cycle: then the answer is that of a request that is in the state.
Source: ``matchmaker.cpp`` (``SET_PRIORITY_commandHandler`` and others).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from negotiator.plugin import AccountChangeKind, AccountRequest, CommandError, NegotiatorError
from negotiator_live.daemon.request import CommandHandler, CommandRequest
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import DaemonError

_REFUSED: Final = 4  # as the code of condor_negotiator for a client that is not authorized


def with_real(kind: AccountChangeKind) -> CommandHandler:
    """Return the handler of a command with a name and a real."""
    return lambda request: _change(request, kind, Channel.get_real)


def with_integer(kind: AccountChangeKind) -> CommandHandler:
    """Return the handler of a command with a name and an integer."""
    return lambda request: _change(request, kind, Channel.get_int)


def with_name(kind: AccountChangeKind) -> CommandHandler:
    """Return the handler of a command with a name."""
    return lambda request: _change(request, kind, None)


def reset_all(request: CommandRequest) -> None:
    """Reset the usage of all accounts."""
    request.end_without_message()
    request.change(AccountRequest(AccountChangeKind.RESET_ALL))


def set_factor(request: CommandRequest) -> None:
    """Set a priority factor; the peer gets an error code, 0 for success."""
    change = _read(request, AccountChangeKind.FACTOR, Channel.get_real)
    try:
        _raise_if_refused(request, change)
    except DaemonError:
        raise
    except NegotiatorError as error:
        request.reply({"ErrorCode": str(_REFUSED), "ErrorString": quoted(str(error))})
        raise
    request.reply({"ErrorCode": "0"})


@attrs.frozen
class LeaseCommand:
    """A command that sets a value for a time, or ends that: the attribute of the value, and the two changes."""

    attribute: str
    setting: AccountChangeKind
    cancelling: AccountChangeKind

    def __call__(self, request: CommandRequest) -> None:
        """Carry out the command; the peer gets whether it succeeded, or why not."""
        try:
            _raise_if_refused(request, self._change(request.ad()))
        except DaemonError:
            raise
        except NegotiatorError as error:
            request.reply({"Success": "false", "ErrorString": quoted(str(error))})
            raise
        request.reply({"Success": "true", "ErrorString": '""'})

    def _change(self, ad: WireAd) -> AccountRequest:
        account, action = ad.string("Submitter"), ad.string("Action")
        if not account:
            raise CommandError("request is missing Submitter")
        if "Action" not in ad:
            raise CommandError("request is missing Action")
        if action.lower() == "cancel":
            return AccountRequest(self.cancelling, account)
        if action.lower() != "set":
            raise CommandError(f"unknown Action '{action}'")
        value, duration = ad.number(self.attribute), ad.integer("Duration")
        if value is None:
            raise CommandError(f"set action requires {self.attribute}")
        if duration is None:
            raise CommandError("set action requires Duration")
        if not duration:
            raise CommandError("lease duration must be positive")
        return AccountRequest(self.setting, account, value, duration)


def _read(
    request: CommandRequest, kind: AccountChangeKind, value: Callable[[Channel], float] | None
) -> AccountRequest:
    """Return the change that the message asks for: a name, and the value if there is one."""
    channel = request.channel
    account = channel.get_string()
    number = None if value is None else value(channel)
    channel.end_received()
    return AccountRequest(kind, account, number)


def _change(
    request: CommandRequest, kind: AccountChangeKind, value: Callable[[Channel], float] | None
) -> None:
    request.change(_read(request, kind, value))


def _raise_if_refused(request: CommandRequest, change: AccountRequest) -> None:
    """Request a change, and wait for the answer for a while.

    :raises NegotiatorError: the change is refused.
    """
    answer = request.change(change, request.wait)
    if answer.ok is False:
        raise CommandError(answer.text)


_KIND: Final = AccountChangeKind
HANDLERS: Final[dict[DaemonCommand, CommandHandler]] = {
    DaemonCommand.SET_PRIORITY: with_real(_KIND.PRIORITY),
    DaemonCommand.SET_PRIORITYFACTOR: set_factor,
    DaemonCommand.SET_ACCUMUSAGE: with_real(_KIND.ACCUMULATED),
    DaemonCommand.SET_BEGINTIME: with_integer(_KIND.BEGIN),
    DaemonCommand.SET_LASTTIME: with_integer(_KIND.LAST),
    DaemonCommand.SET_CEILING: with_integer(_KIND.CEILING),
    DaemonCommand.SET_FLOOR: with_integer(_KIND.FLOOR),
    DaemonCommand.RESET_USAGE: with_name(_KIND.RESET),
    DaemonCommand.DELETE_USER: with_name(_KIND.DELETE),
    DaemonCommand.RESET_ALL_USAGE: reset_all,
    DaemonCommand.MANAGE_CEILING: LeaseCommand("Ceiling", _KIND.CEILING, _KIND.CANCEL_CEILING),
    DaemonCommand.MANAGE_FLOOR: LeaseCommand("Floor", _KIND.FLOOR, _KIND.CANCEL_FLOOR),
    DaemonCommand.MANAGE_PRIORITY_FACTOR: LeaseCommand("PriorityFactor", _KIND.FACTOR, _KIND.CANCEL_FACTOR),
}
"""The handlers of the commands that change accounts; each needs ADMINISTRATOR authorization."""
