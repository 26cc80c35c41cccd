"""The requirements of this client on a session, each that of HTCondor's ``SEC_CLIENT_*`` setting; and patterns of users, as the settings have them."""

from __future__ import annotations

import re
from enum import IntFlag, StrEnum
from typing import Final

import attrs

_PATTERN: Final = re.compile(r"\*|(?:\*|[!-)+-?A-~]{1,200})@(?:\*|[A-Za-z0-9_.-]{1,200})", re.ASCII)


def is_pattern(text: str) -> bool:
    """True for ``*`` (anybody), ``name@domain``, ``*@domain``, ``name@*`` and ``*@*`` (anybody who authenticated)."""
    return _PATTERN.fullmatch(text) is not None


class Requirement(StrEnum):
    """How much a feature of a session is wanted."""

    NEVER = "NEVER"
    OPTIONAL = "OPTIONAL"
    PREFERRED = "PREFERRED"
    REQUIRED = "REQUIRED"


class AuthMethod(IntFlag):
    """The authentication methods of this client, by HTCondor's numbers (``condor_auth.h``)."""

    CLAIMTOBE = 2
    FS = 4
    IDTOKENS = 2048


_METHODS: Final = {
    "CLAIMTOBE": AuthMethod.CLAIMTOBE,
    "FS": AuthMethod.FS,
    "IDTOKEN": AuthMethod.IDTOKENS,
    "IDTOKENS": AuthMethod.IDTOKENS,
    "TOKEN": AuthMethod.IDTOKENS,
    "TOKENS": AuthMethod.IDTOKENS,
}


_WIRE_NAMES: Final = {AuthMethod.IDTOKENS: "TOKEN"}  # where daemons do not know the name of the setting


def wire_name(method: AuthMethod) -> str:
    """Return the name of a method that daemons understand."""
    return _WIRE_NAMES.get(method) or str(method.name)


def methods_in(text: str) -> tuple[AuthMethod, ...]:
    """Return the methods of a list such as ``FS, IDTOKENS`` that this client has, in its order."""
    names = text.replace(",", " ").upper().split()
    return tuple(dict.fromkeys(_METHODS[name] for name in names if name in _METHODS))


@attrs.frozen
class ClientPolicy:
    """What is sent to a daemon as this client's wishes, and held against its answer. The defaults are HTCondor's."""

    authentication: Requirement = Requirement.OPTIONAL
    encryption: Requirement = Requirement.OPTIONAL
    integrity: Requirement = Requirement.OPTIONAL
    negotiation: Requirement = Requirement.PREFERRED
    """With NEVER or OPTIONAL, commands are sent in the clear without a session."""
    methods: tuple[AuthMethod, ...] = (AuthMethod.FS, AuthMethod.IDTOKENS)
    session_seconds: int = 86400
    lease_seconds: int = 3600

    @property
    def negotiates(self) -> bool:
        """True if sessions are negotiated; a requirement cannot be met without one."""
        wishes = (self.negotiation, self.authentication, self.encryption, self.integrity)
        return self.negotiation is Requirement.PREFERRED or Requirement.REQUIRED in wishes
