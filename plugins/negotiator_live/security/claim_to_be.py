"""Authentication by a claim (CLAIMTOBE): the daemon accepts any name. For pools that trust everyone."""

from __future__ import annotations

from negotiator_live.wire.channel import Channel

_SUCCESS = 1


def claim_to_be(channel: Channel, user: str) -> bool:
    """Claim to be a user, such as ``condor@example.org``.

    :raises DaemonError: the daemon does not keep to the protocol.
    """
    channel.put_int(_SUCCESS)
    channel.put_string(user)
    channel.end_message()
    result = channel.get_int()
    channel.end_received()
    return result == _SUCCESS
