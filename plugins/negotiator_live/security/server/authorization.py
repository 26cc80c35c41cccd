"""Who has which authorization level, by user and host, and which commands a server has for whom.

Source: HTCondor manual, "Security", Authorization and Host-Based Security; ``condor_ipverify.cpp``, ``condor_netaddr.cpp``.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, Protocol, Self, TypeAlias

import attrs

from negotiator_live.security.errors import AuthorizationError
from negotiator_live.security.server.peer import UNAUTHENTICATED, Level, Peer
from negotiator_live.wire.channel import Channel

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_ANYBODY: Final = "*"
_EVERYBODY: Final = ("*", "*/*")
_LOCAL: Final = "{:local_ips:}"
_NETGROUP: Final = "+"
_SEPARATOR: Final = re.compile(r"[\s,]+")
_POOL_USERS: Final = ("condor@", "condor_pool@")  # HTCondor's own user, and that of the pool password
_SECONDS: Final = 600.0  # that an answer of the name service is used again
_MOST_NAMES: Final = 10_000
_BEGINNING: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){0,3}(?:\.?\*|\.)?", re.ASCII)
_HOST_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", re.ASCII)
#: Levels that other levels can include although nobody is in their own list.
_IMPLICIT: Final = frozenset({Level.READ, Level.WRITE})


def is_true(text: str) -> bool:
    """True for a setting that is true."""
    return text.strip().lower() in {"true", "t", "yes", "y", "1"}


@attrs.frozen
class AuthorizationEntry:
    """Users at hosts: each is a pattern with ``*``, upper and lower case being equal; a host may be a network, too."""

    user: str
    host: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return an entry: ``user``, ``host``, ``user/host``, ``network/mask`` or ``user/network/mask``.

        A user has an ``@``, or is ``*`` before a slash.
        """
        user, slash, host = text.partition("/")
        if not slash:
            return cls(text, _ANYBODY) if "@" in text else cls(_ANYBODY, text)
        if "/" in host or "@" in user or text.startswith(_ANYBODY) or network(text) is None:
            return cls(user, host)
        return cls(_ANYBODY, text)

    @property
    def is_netgroup(self) -> bool:
        """True for ``+group`` of the name service, which this program does not know."""
        return self.host.startswith(_NETGROUP) and self.user == _ANYBODY

    def has_user(self, user: str) -> bool:
        """True if the entry has a user at some host."""
        return has_wildcard(self.user, user)


@attrs.frozen
class LevelLists:
    """The lists of one level. ``allow`` is None if there is no such list.

    ``names_known``: ``*@*`` has only users who authenticated; in HTCondor's lists also those who did not.
    """

    allow: tuple[AuthorizationEntry, ...] | None = None
    deny: tuple[AuthorizationEntry, ...] = ()
    names_known: bool = False

    @classmethod
    def parse(cls, allow: str, deny: str, *, pool_users: bool = True) -> Self:
        """Return the lists of two settings.

        :param pool_users: ``condor@...`` and ``condor_pool@...`` are the same.
        """
        return cls(
            _entries(allow, pool_users=pool_users) if allow else None,
            _entries(deny, pool_users=pool_users),
        )


def _entries(text: str, *, pool_users: bool) -> tuple[AuthorizationEntry, ...]:
    found = []
    if text in _EVERYBODY:
        return (AuthorizationEntry(_ANYBODY, _ANYBODY),)
    for each in filter(None, _SEPARATOR.split(text)):
        entry = AuthorizationEntry.parse(each)
        found.append(entry)
        for one, other in (_POOL_USERS, _POOL_USERS[::-1]):
            if pool_users and entry.user.lower().startswith(one):
                found.append(attrs.evolve(entry, user=other + entry.user[len(one) :]))
    return tuple(found)


@attrs.define(eq=False)
class HostNames:
    """The name service: the addresses of names, and the names of addresses that have this address. Answers are kept for a while.

    With a ``domain`` there is none (NO_DNS): an address 10.0.0.1 has the name ``10-0-0-1.DOMAIN``.
    """

    domain: str | None = None
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, tuple[float, tuple[str, ...]]] = attrs.field(factory=dict, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a host; none for an unknown one."""
        return self._kept(f"name {name}", name, self._addresses)

    def names(self, address: str) -> tuple[str, ...]:
        """Return the names of an address; none without."""
        return self._kept(f"address {address}", address, self._names)

    def _kept(self, key: str, subject: str, ask: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
        with self._lock:
            asked, found = self._known.get(key, (0.0, ()))
        if asked and self.clock() < asked + _SECONDS:
            return found
        found = ask(subject)
        with self._lock:
            if len(self._known) >= _MOST_NAMES:
                self._known.clear()
            self._known[key] = self.clock(), found
        return found

    def _addresses(self, name: str) -> tuple[str, ...]:
        if self.domain is not None:
            plain = name.removesuffix(f".{self.domain}")
            return tuple(
                str(parsed)
                for text in (plain.replace("-", "."), plain.replace("-", ":"))
                if (parsed := _address(text)) is not None
            )
        if _HOST_NAME.fullmatch(name) is None:
            return ()
        try:
            found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        return tuple(dict.fromkeys(str(each[4][0]) for each in found))

    def _names(self, address: str) -> tuple[str, ...]:
        if self.domain is not None:
            return (f"{re.sub('[.:]', '-', address)}.{self.domain}",)
        try:
            name, aliases, _ = socket.gethostbyaddr(address)
        except (OSError, UnicodeError):
            return ()
        return tuple(each for each in (name, *aliases) if address in self.addresses(each))


@attrs.frozen
class AuthorizationTable:
    """Who has which level."""

    lists: Mapping[Level, LevelLists]
    names: HostNames = attrs.field(factory=HostNames)

    def allows(self, user: str, address: str, level: Level) -> bool:
        """True if a user at an address has a level. A denial takes precedence; a level includes others (WRITE has READ).

        :param user: ``name@domain``; empty for one who did not authenticate.
        """
        if level is Level.ALLOW:
            return True
        lists = self.lists.get(level, LevelLists())
        if lists.allow is None and level not in _IMPLICIT:
            return False
        if self._has(lists, lists.deny, user, address, denies=True):
            return False
        if self._has(lists, lists.allow or (), user, address):
            return True
        return any(self.allows(user, address, each) for each in level.included_in)

    def names_user(self, user: str, level: Level, *, at_some_host: bool) -> bool:
        """True if a user has a level at some host, or else at every host and by the whole name.

        Only whoever has authenticated a user and knows the host may ask for ``at_some_host``.
        """
        lists = self.lists.get(level, LevelLists())
        allow = lists.allow or ()
        if at_some_host:
            return any(entry.has_user(user) for entry in allow)
        is_named = any(
            entry.host == _ANYBODY and _ANYBODY not in entry.user and entry.has_user(user) for entry in allow
        )
        return is_named and not any(entry.has_user(user) for entry in lists.deny)

    def _has(
        self,
        lists: LevelLists,
        entries: Iterable[AuthorizationEntry],
        user: str,
        address: str,
        *,
        denies: bool = False,
    ) -> bool:
        """True if one of the entries has a user at an address."""
        name = user or UNAUTHENTICATED
        plain = _plain_address(address)
        for entry in entries:
            if entry.is_netgroup:
                if denies:  # nobody gets more than in the pool
                    return True
                continue
            if lists.names_known and not user and entry.user != _ANYBODY:
                continue
            if entry.has_user(name) and self._is_at(entry.host, plain):
                return True
        return False

    def _is_at(self, host: str, address: str) -> bool:
        """True if an address is one of a host, or of a network."""
        if host in _EVERYBODY:
            return True
        if host.lower() == _LOCAL:
            return _is_local(address)
        if (found := network(host)) is not None:
            parsed = _address(address)
            return parsed is not None and parsed.version == found.version and parsed in found
        if _ANYBODY not in host and address in self.names.addresses(host):
            return True
        return any(has_wildcard(host, name) for name in self.names.names(address))


def has_wildcard(pattern: str, text: str) -> bool:
    """True if a pattern with any number of ``*`` has a text; upper and lower case are equal."""
    return _pattern(pattern).fullmatch(text) is not None


@lru_cache(maxsize=4096)
def _pattern(pattern: str) -> re.Pattern[str]:
    parts = (re.escape(part) for part in re.split(r"\*+", pattern))
    return re.compile(".*".join(parts), re.IGNORECASE | re.DOTALL)


@lru_cache(maxsize=4096)
def network(text: str) -> Network | None:
    """Return the network of an address, ``address/bits``, ``address/mask`` or ``10.1.*``; None for another text."""
    base, slash, mask = text.partition("/")
    try:
        if not slash and (":" not in base or base.endswith("*")):
            return _beginning(base)
        if slash and not mask.isdecimal() and ":" in base:
            return None  # only an IPv4 address has a mask in the form of an address
        return ipaddress.ip_network(f"{base.strip('[]')}{slash}{mask}", strict=False)
    except ValueError:
        return None


def _beginning(text: str) -> Network | None:
    """Return the network of the beginning of an IPv4 address (``10.1``, ``10.1.``, ``10.1.*``), or of ``fe80:*``."""
    if _BEGINNING.fullmatch(text):
        parts = text.rstrip("*").rstrip(".").split(".")
        whole = ".".join([*parts, *["0"] * (4 - len(parts))])
        return ipaddress.ip_network(f"{whole}/{8 * len(parts)}", strict=False)
    if text.endswith(":*") and "::" not in text:
        return ipaddress.ip_network(f"{text[:-1]}:/{16 * text.count(':')}", strict=False)
    return None


@lru_cache(maxsize=4096)
def _address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _plain_address(text: str) -> str:
    """Return an address without its scope; one of IPv4 within IPv6 as that of IPv4."""
    found = _address(text)
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return text if found is None else str(found)


def _is_local(address: str) -> bool:
    """True if an address is one of this host: a socket can be bound to it."""
    found = _address(address)
    if found is None:
        return False
    family = socket.AF_INET6 if found.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(found), 0))
    except OSError:
        return False
    return True


class Authorizer(Protocol):
    """Decides who may send which command."""

    def is_served(self, command: int) -> bool:
        """True if the server has the command."""

    def needs_name(self, command: int, host: str) -> bool:
        """True if only authenticated peers may send the command from an address."""

    def allows(self, peer: Peer, command: int) -> bool:
        """True if a peer may send the command."""

    def limited(self, peer: Peer, command: int) -> Peer:
        """Return the peer with the levels that a session may have that begins with this command."""

    def hint(self, peer: Peer, command: int) -> str:
        """Return what to configure so that a peer may send the command."""

    def may_resume(self, command: int) -> bool:
        """True if the command may be sent in a session that is resumed."""

    def resumable(self, peer: Peer) -> Iterable[int]:
        """Return the commands that a peer may send when it resumes its session."""


def check_allowed(channel: Channel, authorizer: Authorizer, peer: Peer, command: int) -> None:
    """Let the errors of this connection name the peer from here on.

    :raises AuthorizationError: it may not send the command.
    """
    channel.packets.exchange = attrs.evolve(channel.exchange, name=peer.name)
    if not authorizer.allows(peer, command):
        raise AuthorizationError(channel.exchange, "PERMISSION DENIED", authorizer.hint(peer, command))
