"""The part of ``pool.yaml`` that says where the pool is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

import attrs

from negotiator.plugin import Problem, Section, Severity, Source, printable
from negotiator_live.configured import allowed_users, configured, configured_methods, configured_requirement
from negotiator_live.security.policy import Requirement
from negotiator_live.security.users import is_pattern
from negotiator_live.wire.addresses import AddressError, DaemonAddress

PORT: Final = 9618
"""The port of a collector, if its address has none."""

DEFAULT_SIGNING_KEYS: Final = "/etc/condor/passwords.d"
"""The folder where HTCondor has the keys that sign tokens."""

_ENDPOINT: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})", re.ASCII)


class Method(StrEnum):
    """Ways to authenticate to the daemons of a pool."""

    FS = "FS"
    IDTOKENS = "IDTOKENS"
    CLAIMTOBE = "CLAIMTOBE"


def _default_methods() -> tuple[Method, ...]:
    found = configured_methods()
    return (Method.FS, Method.IDTOKENS) if found is None else tuple(Method[str(each.name)] for each in found)


@attrs.frozen
class CondorPool:
    """``htcondor:``, the pool of the source ``htcondor``.

    ``collector`` is its address: ``host``, ``host:port``, or as HTCondor writes addresses; without one it is that of the environment variable
    ``_CONDOR_COLLECTOR_HOST``, else this host. ``timeout`` are the seconds in which one daemon
    must have answered. ``requests`` are asked of a schedd at a time. ``name`` is that of this negotiator, for the logs of schedds.

    ``authentication``, ``encryption`` and ``integrity`` are what HTCondor's ``SEC_CLIENT_*`` settings are: with REQUIRED no
    command is sent to a daemon that offers less. ``methods`` are tried in the order of the daemon. ``token`` is a file or folder with tokens; by
    default HTCondor's folder of the system.

    ``listen`` is where tools and schedds connect to this program: ``host:port`` (port 0 is any that is free); empty for no
    port. ``administrators``, ``daemons`` and ``readers`` are who may send which commands there: patterns such as
    ``condor@example.org``, ``*@example.org``, ``*@*`` (everybody who authenticated), ``*`` (everybody). ``uid_domain`` is the domain of
    the users of this host, ``trust_domain`` that of tokens, and ``signing_keys`` the file or folder with the keys that
    signed them; the defaults are the domain of this host, ``uid_domain``, and HTCondor's folder. Under condor_master the
    defaults of ``authentication``, ``encryption``, ``integrity``, ``methods``, ``administrators``, ``uid_domain`` and
    ``trust_domain`` are the pool's settings.
    """

    collector: str = ""
    timeout: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    requests: int = attrs.field(default=200, validator=[attrs.validators.ge(1), attrs.validators.le(10_000)])
    name: str = attrs.field(default="negotiator", validator=attrs.validators.min_len(1))
    authentication: Requirement = attrs.field(factory=lambda: configured_requirement("AUTHENTICATION"))
    encryption: Requirement = attrs.field(factory=lambda: configured_requirement("ENCRYPTION"))
    integrity: Requirement = attrs.field(factory=lambda: configured_requirement("INTEGRITY"))
    methods: tuple[Method, ...] = attrs.field(factory=_default_methods)
    token: str = ""
    listen: str = ""
    administrators: tuple[str, ...] = attrs.field(factory=lambda: allowed_users("ADMINISTRATOR"))
    daemons: tuple[str, ...] = ("*@*",)
    readers: tuple[str, ...] = ("*",)
    uid_domain: str = attrs.field(factory=lambda: configured("UID_DOMAIN"))
    trust_domain: str = attrs.field(factory=lambda: configured("TRUST_DOMAIN"))
    signing_keys: str = DEFAULT_SIGNING_KEYS
    source: Source | None = None

    @property
    def listen_endpoint(self) -> tuple[str, int]:
        """The host and port of ``listen``.

        :raises AddressError: invalid.
        """
        found = _ENDPOINT.fullmatch(self.listen)
        if found is None or int(found[3]) >= 1 << 16:
            raise AddressError(f"{printable(self.listen[:200])}: invalid, expected host:port")
        return found[1] or found[2], int(found[3])

    @property
    def address(self) -> DaemonAddress:
        """The address of the collector.

        :raises AddressError: invalid.
        """
        return collector_address(self.collector or configured("COLLECTOR_HOST") or "127.0.0.1")


@attrs.frozen
class LivePoolSettings:
    """The keys of this plugin."""

    htcondor: CondorPool = attrs.field(factory=CondorPool)


def collector_address(text: str) -> DaemonAddress:
    """Return the address of a collector: without a port that of HTCondor, and an IPv6 address may lack its brackets.

    :raises AddressError: invalid.
    """
    host, question, parameters = text.partition("?")
    if host.count(":") > 1 and "[" not in host:
        host = f"[{host}]"
    has_port = host.startswith("<") or (not host.endswith("]") and ":" in host)
    try:
        return DaemonAddress.parse(f"{host}{'' if has_port else f':{PORT}'}{question}{parameters}")
    except AddressError:
        shown = printable(text[:200])
        raise AddressError(f"{shown}: invalid address, expected host, host:port or <host:port?...>") from None


def at_collector(settings: LivePoolSettings, address: str) -> LivePoolSettings:
    """Return settings with another collector.

    :raises AddressError: the address is invalid.
    """
    collector_address(address)
    return attrs.evolve(settings, htcondor=attrs.evolve(settings.htcondor, collector=address))


def bound_to(settings: LivePoolSettings, host: str, port: int) -> LivePoolSettings:
    """Return settings with another address at which tools and schedds connect."""
    listen = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return attrs.evolve(settings, htcondor=attrs.evolve(settings.htcondor, listen=listen))


def _check(settings: LivePoolSettings) -> list[Problem]:
    pool = settings.htcondor
    place = pool.source or Source("pool.yaml")
    return [Problem(Severity.ERROR, place, f"htcondor: {text}", hint) for text, hint in _errors(pool)]


def _errors(pool: CondorPool) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the settings, and a hint."""
    try:
        pool.address  # noqa: B018 - parses it
    except AddressError as error:
        yield f"collector: {error}", "write host or host:port"
    if pool.listen:
        try:
            pool.listen_endpoint  # noqa: B018 - parses it
        except AddressError as error:
            yield f"listen: {error}", "write host:port, such as 0.0.0.0:9614"
    for key in ("administrators", "daemons", "readers"):
        for each in getattr(pool, key):
            if not is_pattern(each):
                yield (
                    f"{key}: invalid user {printable(each[:200])!r}",
                    "write name@domain, *@domain, *@* or *",
                )


SECTION = Section(schema=LivePoolSettings, check=_check)
