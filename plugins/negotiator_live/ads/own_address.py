"""The address of this host, as the daemons of a pool see it."""

from __future__ import annotations

import socket

from negotiator_live.wire.addresses import DaemonAddress, Endpoint

_UNKNOWN = "127.0.0.1"


def own_address(collector: DaemonAddress) -> DaemonAddress:
    """Return the address of this host towards a collector, with port 0, for a program without a port.

    ``noUDP``: schedds do not send RESCHEDULE by UDP.
    """
    return DaemonAddress(Endpoint(_host_towards(collector.primary), 0), {"noUDP": ""})


def _host_towards(endpoint: Endpoint) -> str:
    """Return the address of the interface through which an endpoint is reached; nothing is sent."""
    try:
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_DGRAM)
        family, kind, _, _, where = found[0]
        with socket.socket(family, kind) as probe:
            probe.connect(where)
            return str(probe.getsockname()[0])
    except OSError:
        return _UNKNOWN
