"""What this server requires of a session, what it agrees on with a client, and how it authenticates clients.

The methods that both sides have are tried one after the other; on this host the file system (FS): the owner of a directory that the client makes.
Source: ``SecMan::ReconcileSecurityPolicyAds`` (``condor_secman.cpp``), ``authentication.cpp``, ``condor_auth_fs.cpp``.
"""

from __future__ import annotations

import os
import pwd
import re
import secrets
import stat
import string
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.security.policy import AuthMethod, Requirement, methods_in
from negotiator_live.security.server.peer import Peer, is_user
from negotiator_live.security.server.tokens import TokenVerifier
from negotiator_live.wire.ads import WireAd
from negotiator_live.wire.channel import Channel

_SECONDS: Final = re.compile(r"\d{1,9}", re.ASCII)
_AES: Final = "AES"
_SHORTEST: Final = 60  # seconds of a session; a client that wants less gets so much
_NAME: Final = string.ascii_letters + string.digits
_RANDOM: Final = 16
_FAILED: Final = -1
_SHARED_PORT: Final = "?sock="
_EXTENSION: Final = re.compile(r"[0-9A-Fa-f.:\[\]]{3,60}(?:\?sock=[A-Za-z0-9_.-]{1,100})?", re.ASCII)
_ROOT: Final = "root"
_MODE: Final = 0o700
_MOST_LINKS: Final = 2  # of an empty directory
_NONE: Final = 0
_CLAIMS: Final = 1


@attrs.frozen
class AgreedSession:
    """What client and server agree on; each of the three features is on or off."""

    authentication: bool
    authentication_required: bool
    encryption: bool
    integrity: bool
    methods: tuple[AuthMethod, ...]
    has_aes: bool
    seconds: int
    lease: int
    """Seconds after which the session ends if it is not used."""


@attrs.frozen
class ServerPolicy:
    """The requirements of this server, as HTCondor's ``SEC_DEFAULT_*`` settings say."""

    authentication: Requirement = Requirement.OPTIONAL
    encryption: Requirement = Requirement.OPTIONAL
    integrity: Requirement = Requirement.OPTIONAL
    methods: tuple[AuthMethod, ...] = (AuthMethod.FS, AuthMethod.IDTOKENS)
    session_seconds: int = 86400
    lease_seconds: int = 3600

    @property
    def allows_no_session(self) -> bool:
        """True if a command may come in the clear, without any handshake."""
        return Requirement.REQUIRED not in (self.authentication, self.encryption, self.integrity)

    def for_known_peers(self) -> ServerPolicy:
        """Return the policy for commands that only authenticated peers may send."""
        return attrs.evolve(self, authentication=Requirement.REQUIRED)

    def agree(self, client: WireAd) -> AgreedSession | str:
        """Return what is agreed on with a client, or the name of the feature on which there is no agreement."""
        new = client.string("AuthenticationNew") or client.string("Authentication")
        wishes = {
            "authentication": (_requirement(new), self.authentication),
            "encryption": (_requirement(client.string("Encryption")), self.encryption),
            "integrity": (_requirement(client.string("Integrity")), self.integrity),
        }
        agreed: dict[str, bool] = {}
        for feature, (theirs, ours) in wishes.items():
            if (decided := _reconciled(theirs, ours)) is None:
                return feature
            agreed[feature] = decided
        crypto = client.string("CryptoMethods").replace(",", " ").upper().split()
        offered = methods_in(client.string("AuthMethods"))
        return AgreedSession(
            **agreed,
            authentication_required=Requirement.REQUIRED in wishes["authentication"],
            methods=tuple(method for method in self.methods if method in offered),
            has_aes=_AES in crypto,
            seconds=max(_shorter(client.string("SessionDuration"), self.session_seconds), _SHORTEST),
            lease=max(_shorter(client.get("SessionLease", ""), self.lease_seconds), _SHORTEST),
        )


def _requirement(text: str) -> Requirement:
    """Return what a client wants; what it does not name it does not support."""
    return Requirement.__members__.get(text.upper(), Requirement.NEVER)


def _reconciled(one: Requirement, other: Requirement) -> bool | None:
    """Return whether a feature is used; None if one side requires what the other one refuses."""
    wishes = {one, other}
    if Requirement.NEVER in wishes:
        return None if Requirement.REQUIRED in wishes else False
    return bool(wishes & {Requirement.REQUIRED, Requirement.PREFERRED})


def _shorter(text: str, seconds: int) -> int:
    return min(int(text), seconds) if _SECONDS.fullmatch(text) and int(text) else seconds


@attrs.frozen
class FilesystemVerifier:
    """Asks a client to make a directory with an unpredictable name, and looks at its owner.

    The client must add its view of this end of the connection to the name, so that nobody can pass on the request to another
    client. HTCondor 24.0.23 and 25.14 do so unless ``SEC_FS_ENFORCE_CHANNEL_BINDING`` is false; older versions do not.

    ``domain`` is that of the users of this host. ``directory`` is where clients make it, seen from ``root``. As for HTCondor's
    daemons, ``root`` counts as ``condor`` (``FS_ROOT_TO_CONDOR``): they authenticate as that user. ``shared_port_id`` is the
    name of this server at a shared port.
    """

    domain: str
    directory: str = "/tmp"  # noqa: S108 - where HTCondor's clients make it (FS_LOCAL_DIR)
    root: Path = Path("/")
    shared_port_id: str = ""

    def verify(self, channel: Channel) -> Peer | None:
        """Return who the client is; None if it has not proved it.

        :raises DaemonError: the client does not keep to the protocol.
        """
        host, port = channel.packets.own_address()
        name = "".join(secrets.choice(_NAME) for _ in range(_RANDOM))
        path = f"{self.directory}/FS_{host}_{port}_{name}_"
        channel.put_string(path)
        channel.end_message()
        made = channel.get_int() != _FAILED
        extension = channel.get_string() if channel.has_more else ""
        channel.end_received()
        is_here = made and self._is_extension(extension, host, port)
        user = self._owner(path + extension) if is_here else ""
        channel.put_int(0 if user else _FAILED)
        channel.end_message()
        return Peer(f"{user}@{self.domain}", "FS") if user else None

    def _is_extension(self, extension: str, host: str, port: int) -> bool:
        """True if a client named its end of this connection: the directory was made for no other one."""
        address, shared, name = extension.partition(_SHARED_PORT)
        expected = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return (
            _EXTENSION.fullmatch(extension) is not None
            and address == expected
            and (not shared or name == self.shared_port_id)
        )

    def _owner(self, path: str) -> str:
        """Return the user who made the directory; "" if it is none as requested."""
        try:
            status = os.lstat(self.root / path.lstrip("/"))
        except OSError:
            return ""
        is_private = stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == _MODE
        if not is_private or status.st_nlink > _MOST_LINKS:
            return ""
        try:
            user = pwd.getpwuid(status.st_uid).pw_name
        except KeyError:
            return ""
        return "condor" if user == _ROOT else user


@attrs.frozen
class Verifiers:
    """How clients can prove who they are. ``accepts_claims``: also by CLAIMTOBE, which proves nothing."""

    filesystem: FilesystemVerifier | None = None
    tokens: TokenVerifier | None = None
    accepts_claims: bool = False

    def usable(self, methods: tuple[AuthMethod, ...]) -> tuple[AuthMethod, ...]:
        """Return which methods this server has, in their order."""
        have = {
            AuthMethod.FS: self.filesystem is not None,
            AuthMethod.IDTOKENS: self.tokens is not None and bool(self.tokens.keys.names()),
            AuthMethod.CLAIMTOBE: self.accepts_claims,
        }
        return tuple(method for method in methods if have[method])

    def authenticate(self, channel: Channel, methods: tuple[AuthMethod, ...]) -> Peer | None:
        """Let the client try methods until one succeeds, and return who it is; None if it has no further one.

        :raises DaemonError: the client does not keep to the protocol.
        """
        remaining = methods
        while True:
            offered = channel.get_int()
            channel.end_received()
            chosen = next((method for method in remaining if offered & method), None)
            channel.put_int(_NONE if chosen is None else chosen)
            channel.end_message()
            if chosen is None:
                return None
            peer = self._verified(channel, chosen)
            if peer is not None:
                channel.put_int(0)  # no session key is sent: one is agreed on
                channel.end_message()
                return peer
            remaining = tuple(method for method in remaining if method is not chosen)

    def _verified(self, channel: Channel, method: AuthMethod) -> Peer | None:
        if method is AuthMethod.FS and self.filesystem is not None:
            return self.filesystem.verify(channel)
        if method is AuthMethod.IDTOKENS and self.tokens is not None:
            return self.tokens.verify(channel)
        return _claimed(channel)


def _claimed(channel: Channel) -> Peer | None:
    """Return who a client claims to be (``condor_auth_claim.cpp``)."""
    claims = channel.get_int() == _CLAIMS
    user = channel.get_string() if claims else ""
    channel.end_received()
    accepted = is_user(user)
    if claims:
        channel.put_int(_CLAIMS if accepted else 0)
        channel.end_message()
    return Peer(user, "CLAIMTOBE") if accepted else None
