"""Whether an address is reached from this host alone."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """True if a name or an address is that of the loopback interface."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
