"""What this client requires of a session, as HTCondor's ``SEC_CLIENT_*`` and ``SEC_DEFAULT_*`` settings say."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag, StrEnum
from typing import Final, Self

import attrs

from negotiator.plugin import InvalidCallError, printable


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

    @classmethod
    def of_settings(cls, settings: Mapping[str, str]) -> Self:
        """Return the policy of a configuration.

        :param settings: values by upper-case names, such as ``SEC_CLIENT_ENCRYPTION``.
        :raises InvalidCallError: a value is invalid.
        """

        def setting(name: str) -> tuple[str, str]:
            found = [
                f"SEC_{level}_{name}" for level in ("CLIENT", "DEFAULT") if f"SEC_{level}_{name}" in settings
            ]
            return (found[0], settings[found[0]].strip()) if found else ("", "")

        def requirement(name: str, default: Requirement) -> Requirement:
            full, value = setting(name)
            if not value:
                return default
            if value.upper() not in Requirement.__members__:
                allowed = ", ".join(Requirement)
                raise InvalidCallError(f"{full} = {printable(value)}: expected one of {allowed}")
            return Requirement[value.upper()]

        default = cls()
        full, methods = setting("AUTHENTICATION_METHODS")
        chosen = methods_in(methods)
        if methods and not chosen:
            allowed = ", ".join(_METHODS)
            raise InvalidCallError(f"{full} = {printable(methods)}: expected one or more of {allowed}")
        return cls(
            authentication=requirement("AUTHENTICATION", default.authentication),
            encryption=requirement("ENCRYPTION", default.encryption),
            integrity=requirement("INTEGRITY", default.integrity),
            negotiation=requirement("NEGOTIATION", default.negotiation),
            methods=chosen or default.methods,
        )

    @property
    def negotiates(self) -> bool:
        """True if sessions are negotiated; a requirement cannot be met without one."""
        wishes = (self.negotiation, self.authentication, self.encryption, self.integrity)
        return self.negotiation is Requirement.PREFERRED or Requirement.REQUIRED in wishes
