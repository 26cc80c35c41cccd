"""The part of ``pool.yaml`` that says where the pool is."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Final

import attrs

from negotiator.plugin import Problem, Section, Severity, Source
from negotiator_live.security.policy import Requirement
from negotiator_live.wire.addresses import AddressError, DaemonAddress

PORT: Final = 9618
"""The port of a collector, if its address has none."""

#: HTCondor's tools and daemons override a setting by an environment variable of this form.
_VARIABLE: Final = "_CONDOR_COLLECTOR_HOST"


class Method(StrEnum):
    """Ways to authenticate to the daemons of a pool."""

    FS = "FS"
    IDTOKENS = "IDTOKENS"
    CLAIMTOBE = "CLAIMTOBE"


@attrs.frozen
class CondorPool:
    """``htcondor:``, the pool of the source ``htcondor``.

    ``collector`` is its address: ``host:port``, or as HTCondor writes addresses; without one it is that of the environment variable
    ``_CONDOR_COLLECTOR_HOST``, else this host. ``timeout`` are the seconds in which one daemon
    must have answered. ``requests`` are asked of a schedd at a time. ``name`` is that of this negotiator, for the logs of schedds.

    ``authentication``, ``encryption`` and ``integrity`` are what HTCondor's ``SEC_CLIENT_*`` settings are: with REQUIRED no
    command is sent to a daemon that offers less. ``methods`` are tried in the order of the daemon. ``token`` is a file or folder with tokens; by
    default those of this user or, for root, of the system.
    """

    collector: str = ""
    timeout: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    requests: int = attrs.field(default=200, validator=[attrs.validators.ge(1), attrs.validators.le(10_000)])
    name: str = attrs.field(default="negotiator", validator=attrs.validators.min_len(1))
    authentication: Requirement = Requirement.OPTIONAL
    encryption: Requirement = Requirement.OPTIONAL
    integrity: Requirement = Requirement.OPTIONAL
    methods: tuple[Method, ...] = (Method.FS, Method.IDTOKENS)
    token: str = ""
    source: Source | None = None

    @property
    def address(self) -> DaemonAddress:
        """The address of the collector.

        :raises AddressError: invalid.
        """
        return DaemonAddress.parse(self.collector or _with_port(os.environ.get(_VARIABLE) or "127.0.0.1"))


@attrs.frozen
class LivePoolSettings:
    """The keys of this plugin."""

    htcondor: CondorPool = attrs.field(factory=CondorPool)


def _with_port(address: str) -> str:
    return address if ":" in address else f"{address}:{PORT}"


def at_collector(settings: LivePoolSettings, address: str) -> LivePoolSettings:
    """Return settings with another collector.

    :raises AddressError: the address is invalid.
    """
    address = _with_port(address)
    DaemonAddress.parse(address)
    return attrs.evolve(settings, htcondor=attrs.evolve(settings.htcondor, collector=address))


def _check(settings: LivePoolSettings) -> list[Problem]:
    pool = settings.htcondor
    try:
        pool.address  # noqa: B018 - parses it
    except AddressError as error:
        place = pool.source or Source("pool.yaml")
        return [Problem(Severity.ERROR, place, f"htcondor: collector: {error}", "write host:port")]
    return []


SECTION = Section(schema=LivePoolSettings, check=_check)
