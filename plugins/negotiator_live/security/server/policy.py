"""What this server requires of a session, and what it agrees on with a client.

Source: ``SecMan::ReconcileSecurityPolicyAds`` (``condor_secman.cpp``).
"""

from __future__ import annotations

import re
from typing import Final

import attrs

from negotiator_live.security.policy import AuthMethod, Requirement, methods_in
from negotiator_live.wire.ads import WireAd

_SECONDS: Final = re.compile(r"\d{1,9}", re.ASCII)
_AES: Final = "AES"
_SHORTEST: Final = 60  # seconds of a session; a client that wants less gets so much


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
