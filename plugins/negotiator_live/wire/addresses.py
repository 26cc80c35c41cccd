"""Addresses of daemons as HTCondor writes them ("sinful strings").

``<host:port?addrs=10.0.0.1-9618+[fe80--1]-9618&alias=host&noUDP&sock=schedd_12>``. Source: ``condor_sinful.cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Self
from urllib.parse import quote, unquote

import attrs

from negotiator.plugin import PoolError, printable

_SINFUL: Final = re.compile(
    r"<(?:\[([0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?)\]|([A-Za-z0-9_.-]+)):(\d{1,5})(?:\?([^<>]*))?>", re.ASCII
)
_ENDPOINT: Final = re.compile(r"\[?([0-9A-Fa-f.-]+?)\]?-(\d{1,5})", re.ASCII)
_PLAIN: Final = ":#[]+"  # besides letters, digits and ._-
_LONGEST: Final = 4096


class AddressError(PoolError):
    """The text is not an address of a daemon."""


@attrs.frozen
class Endpoint:
    """A host (name or address) and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@attrs.frozen
class DaemonAddress:
    """Where a daemon listens: its primary endpoint, and parameters such as ``sock`` (its name at a shared port)."""

    primary: Endpoint
    parameters: Mapping[str, str] = attrs.field(factory=dict, hash=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the address of a sinful string, or of ``host:port``.

        :raises AddressError: the text is neither.
        """
        whole = text if text.startswith("<") else f"<{text}>"
        found = _SINFUL.fullmatch(whole) if len(whole) <= _LONGEST else None
        if found is None or not 0 < int(found[3]) < 1 << 16:
            raise AddressError(
                f"{printable(text[:200])}: invalid address of a daemon, expected <host:port?...>"
            )
        pairs = [each.partition("=") for each in re.split("[&;]", found[4] or "") if each]
        endpoint = Endpoint(found[1] or found[2], int(found[3]))
        return cls(endpoint, {unquote(name): unquote(value) for name, _, value in pairs})

    @property
    def shared_port_id(self) -> str:
        """The daemon's name at a shared port; "" without one."""
        return self.parameters.get("sock", "")

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Where to connect, in this order: the primary endpoint, then the others of ``addrs``."""
        found = [_ENDPOINT.fullmatch(each) for each in self.parameters.get("addrs", "").split("+")]
        others = [Endpoint(each[1].replace("-", ":"), int(each[2])) for each in found if each]
        valid = [each for each in others if 0 < each.port < 1 << 16]
        return tuple(dict.fromkeys((self.primary, *valid)))

    @property
    def shown(self) -> str:
        """The address for messages: without the parameters that do not tell where it is."""
        shared = f"?sock={printable(self.shared_port_id)}" if self.shared_port_id else ""
        return f"<{printable(str(self.primary))}{shared}>"

    def __str__(self) -> str:
        pairs = (
            quote(name, _PLAIN) + (f"={quote(value, _PLAIN)}" if value else "")
            for name, value in sorted(self.parameters.items())
        )
        text = "&".join(pairs)
        return f"<{self.primary}?{text}>" if text else f"<{self.primary}>"
