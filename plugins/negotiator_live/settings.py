"""The part of ``pool.yaml`` that says where the pool is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Final

import attrs

from negotiator.plugin import Problem, ScalarText, Section, Severity, Source, printable
from negotiator_live.configured import SETTINGS, PoolConfiguration
from negotiator_live.master.handover import daemon_name
from negotiator_live.security.policy import AuthMethod, Requirement, is_pattern
from negotiator_live.security.server.authorization import (
    AuthorizationEntry,
    AuthorizationTable,
    LevelLists,
)
from negotiator_live.security.server.peer import Level
from negotiator_live.wire.addresses import AddressError, DaemonAddress

PORT: Final = 9618
"""The port of a collector, if its address has none."""

DEFAULT_SIGNING_KEYS: Final = "/etc/condor/passwords.d"
"""The folder where HTCondor has the keys that sign tokens."""

_ENDPOINT: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9_.-]+)):(\d{1,5})", re.ASCII)
_ANY_PORT: Final = re.compile(r"(<?[^?]*):0((?:\?.*)?>?)")
#: The keys that name the users of a level, and who they are without a pool's configuration.
_KEYS: Final[Mapping[Level, str]] = {
    Level.READ: "readers",
    Level.WRITE: "daemons",
    Level.DAEMON: "daemons",
    Level.ADVERTISE_SCHEDD: "daemons",
    Level.ADMINISTRATOR: "administrators",
}
_DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "readers": ("*",),
    "daemons": ("*@*",),
    "administrators": (),
}


class Method(StrEnum):
    """Ways to authenticate to the daemons of a pool."""

    FS = "FS"
    IDTOKENS = "IDTOKENS"
    CLAIMTOBE = "CLAIMTOBE"


@attrs.frozen
class CondorPool:
    """``htcondor:``, the pool of the source ``htcondor``.

    ``collector`` is its address: ``host``, ``host:port``, or as HTCondor writes addresses; without one it is that of the pool's
    configuration, of the environment variable ``_CONDOR_COLLECTOR_HOST``, or this host. ``timeout`` are the seconds in which one daemon
    must have answered. ``requests`` are asked of a schedd at a time. ``name`` is that of this negotiator, for its ad and
    the logs of schedds; by default HTCondor's, which is that of the host.

    ``authentication``, ``encryption`` and ``integrity`` are what HTCondor's ``SEC_CLIENT_*`` and ``SEC_DEFAULT_*`` settings are: with REQUIRED no
    command is sent to a daemon, or accepted from a peer, that offers less. ``methods`` are tried in the order of the daemon. ``token`` is a file or folder with tokens; by
    default HTCondor's folder of the system.

    ``listen`` is where tools and schedds connect to this program: ``host:port`` (port 0 is any that is free); empty for no
    port. ``administrators``, ``daemons`` and ``readers`` are who may send which commands there: users such as
    ``condor@example.org``, ``*@example.org``, ``*@*`` (everybody who authenticated), ``*`` (everybody), at any host or at those
    after a slash (``*/10.0.0.0/8``). ``uid_domain`` is the domain of
    the users of this host, ``trust_domain`` that of tokens, and ``signing_keys`` the file or folder with the keys that
    signed them; the defaults are the domain of this host, ``uid_domain``, and HTCondor's folder. Under condor_master the
    defaults of ``authentication``, ``encryption``, ``integrity``, ``methods``, ``administrators``, ``daemons``, ``readers``,
    ``uid_domain`` and ``trust_domain`` are the pool's configuration.
    """

    collector: str = ""
    timeout: float = attrs.field(default=20.0, validator=attrs.validators.gt(0))
    requests: int = attrs.field(default=200, validator=[attrs.validators.ge(1), attrs.validators.le(10_000)])
    name: str = ""
    authentication: Requirement | None = None
    encryption: Requirement | None = None
    integrity: Requirement | None = None
    methods: tuple[Method, ...] | None = None
    token: str = ""
    listen: str = ""
    administrators: tuple[str, ...] | None = None
    daemons: tuple[str, ...] | None = None
    readers: tuple[str, ...] | None = None
    uid_domain: str = ""
    trust_domain: str = ""
    signing_keys: str = DEFAULT_SIGNING_KEYS
    source: Source | None = None

    @property
    def daemon_name(self) -> str:
        """The name of this negotiator: ``name``, or that which HTCondor would give it."""
        return self.name or daemon_name()

    @property
    def listen_endpoint(self) -> tuple[str, int]:
        """The host and port of ``listen``.

        :raises AddressError: invalid.
        """
        found = _ENDPOINT.fullmatch(self.listen)
        if found is None or int(found[3]) >= 1 << 16:
            raise AddressError(f"{printable(self.listen[:200])}: invalid, expected host:port")
        return found[1] or found[2], int(found[3])


@attrs.frozen
class ConfiguredPool:
    """The pool of ``htcondor:`` with what its own configuration says where a key is missing."""

    keys: CondorPool = attrs.field(factory=CondorPool)
    configuration: PoolConfiguration = attrs.field(factory=PoolConfiguration)

    @property
    def collector(self) -> str:
        """The address of the collector, as it is written: of several in the pool's configuration the first."""
        configured = self.configuration.value("COLLECTOR_HOST").replace(",", " ").split()
        return self.keys.collector or next(iter(configured), "127.0.0.1")

    def find_collector(self) -> DaemonAddress:
        """Return the address of the collector at present: with port 0 it is in the file of COLLECTOR_ADDRESS_FILE.

        :raises AddressError: invalid, or no collector has written the file.
        """
        text = self.collector
        if _ANY_PORT.fullmatch(text) is None:
            return collector_address(text)
        file = self.configuration.value("COLLECTOR_ADDRESS_FILE")
        if not file:
            raise AddressError(f"{printable(text[:200])}: port 0, and no COLLECTOR_ADDRESS_FILE has the port")
        try:
            with Path(file).open(encoding="utf-8", errors="replace") as opened:
                return DaemonAddress.parse(opened.readline(1 << 14).strip())
        except OSError as error:
            reason = f"{error.strerror}; does the collector run on this host?"
            raise AddressError(f"{file}: the collector has not written its address: {reason}") from None

    @property
    def host_address(self) -> DaemonAddress:
        """An address at the host of the collector, whatever its port.

        :raises AddressError: invalid.
        """
        return collector_address(_ANY_PORT.sub(rf"\1:{PORT}\2", self.collector))

    def requirements(self, level: str) -> tuple[Requirement, Requirement, Requirement]:
        """Return how much authentication, encryption and integrity are wanted at a level, or as a client (``CLIENT``)."""
        keys, configured = self.keys, self.configuration.requirement
        return (
            keys.authentication or configured(level, "AUTHENTICATION"),
            keys.encryption or configured(level, "ENCRYPTION"),
            keys.integrity or configured(level, "INTEGRITY"),
        )

    def methods(self, level: str) -> tuple[AuthMethod, ...]:
        """Return the ways to authenticate at a level, or as a client (``CLIENT``)."""
        if self.keys.methods is not None:
            return tuple(AuthMethod[each] for each in self.keys.methods)
        found = self.configuration.methods(level)
        return (AuthMethod.FS, AuthMethod.IDTOKENS) if found is None else found

    @property
    def uid_domain(self) -> str:
        """The domain of the users of this host; "" if nothing names it."""
        return self.keys.uid_domain or self.configuration.value("UID_DOMAIN")

    @property
    def trust_domain(self) -> str:
        """The domain of tokens; "" if nothing names it."""
        return self.keys.trust_domain or self.configuration.value("TRUST_DOMAIN")

    @cached_property
    def authorization(self) -> AuthorizationTable:
        """Who has which level: the keys name users, otherwise the pool's lists decide."""
        table = self.configuration.authorization()
        lists = dict(table.lists)
        for level, key in self.keys_of_levels.items():
            if not key:
                del lists[level]
                continue
            users = self._users(key)
            if key == "daemons":  # who may administrate may do what daemons do
                users = (*users, *self._users("administrators"))
            entries = tuple(map(AuthorizationEntry.parse, users))
            lists[level] = LevelLists(entries or None, names_known=True)
        return attrs.evolve(table, lists=lists)

    @property
    def keys_of_levels(self) -> Mapping[Level, str]:
        """The key that names the users of a level, "" if nobody has it; the pool's lists decide of all others."""
        found: dict[Level, str] = {}
        for level in Level:
            key = _KEYS.get(level, "")
            written = key and getattr(self.keys, key) is not None
            if level is not Level.ALLOW and (written or not self.configuration.has_lists(level)):
                found[level] = key
        return found

    def _users(self, key: str) -> tuple[str, ...]:
        written: tuple[str, ...] | None = getattr(self.keys, key)
        return _DEFAULTS[key] if written is None else written


def _texts(knobs: Mapping[str, ScalarText]) -> Mapping[str, str]:
    return {name: value.text for name, value in knobs.items()}


@attrs.frozen
class LivePoolSettings:
    """The keys of this plugin, and the settings that it reads of the pool's own configuration.

    With ``NEGOTIATOR_INFORM_STARTD`` matches are sent to the startds of their slots, too.
    """

    htcondor: CondorPool = attrs.field(factory=CondorPool)
    NEGOTIATOR_INFORM_STARTD: bool = False
    knobs: Mapping[str, ScalarText] = attrs.field(factory=dict, eq=_texts, hash=False)

    @property
    def pool(self) -> ConfiguredPool:
        """The pool with its configuration."""
        return ConfiguredPool(self.htcondor, PoolConfiguration(_texts(self.knobs)))


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
    place = settings.htcondor.source or Source("pool.yaml")
    return [Problem(Severity.ERROR, place, f"htcondor: {text}", hint) for text, hint in _errors(settings)]


def _errors(settings: LivePoolSettings) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the settings, and a hint."""
    pool = settings.htcondor
    try:
        settings.pool.host_address  # noqa: B018 - parses it
    except AddressError as error:
        yield f"collector: {error}", "write host or host:port"
    if pool.listen:
        try:
            pool.listen_endpoint  # noqa: B018 - parses it
        except AddressError as error:
            yield f"listen: {error}", "write host:port, such as 0.0.0.0:9614"
    for key in ("administrators", "daemons", "readers"):
        for each in getattr(pool, key) or ():
            user, slash, host = each.partition("/")
            if not is_pattern(user) or (slash and not host):
                yield (
                    f"{key}: invalid user {printable(each[:200])!r}",
                    "write name@domain, *@domain, *@* or *",
                )


SECTION = Section(schema=LivePoolSettings, check=_check, pool_knobs=SETTINGS)
