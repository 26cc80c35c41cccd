"""The part of ``pool.yaml`` that says where the pool is."""

from __future__ import annotations

import attrs

from negotiator.plugin import Problem, Section, Severity, Source
from negotiator_live.wire.addresses import AddressError, DaemonAddress


@attrs.frozen
class CondorPool:
    """``htcondor:``, the pool of the source ``htcondor``.

    ``collector`` is its address: ``host:port``, or as HTCondor writes addresses. ``timeout`` are the seconds in which one daemon
    must have answered. ``requests`` are asked of a schedd at a time. ``name`` is that of this negotiator, for the logs of schedds.
    """

    collector: str = "127.0.0.1:9618"
    timeout: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    requests: int = attrs.field(default=200, validator=[attrs.validators.ge(1), attrs.validators.le(10_000)])
    name: str = attrs.field(default="negotiator", validator=attrs.validators.min_len(1))
    source: Source | None = None

    @property
    def address(self) -> DaemonAddress:
        """The address of the collector.

        :raises AddressError: it is none.
        """
        return DaemonAddress.parse(self.collector)


@attrs.frozen
class LivePoolSettings:
    """The keys of this plugin."""

    htcondor: CondorPool = attrs.field(factory=CondorPool)


def _check(settings: LivePoolSettings) -> list[Problem]:
    pool = settings.htcondor
    try:
        pool.address  # noqa: B018 - parses it
    except AddressError as error:
        place = pool.source or Source("pool.yaml")
        return [Problem(Severity.ERROR, place, f"htcondor: collector: {error}", "write host:port")]
    return []


SECTION = Section(schema=LivePoolSettings, check=_check)
