"""Settings of HTCondor for this daemon itself: where the pool is, how to authenticate, who is authorized.

The pool's own configuration has them, which the bundle is loaded with; without one the environment (``_CONDOR_NAME``), as for
HTCondor's tools.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Final

import attrs

from negotiator_live.security.policy import AuthMethod, Requirement, methods_in
from negotiator_live.security.server.authorization import (
    AuthorizationTable,
    HostNames,
    LevelLists,
    is_true,
)
from negotiator_live.security.server.peer import Level

_CLIENT: Final = "CLIENT"
_DEFAULT: Final = "DEFAULT"
_FEATURES: Final = ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY", "AUTHENTICATION_METHODS")
_REQUIREMENTS: Final = {
    **dict.fromkeys("NF", Requirement.NEVER),
    "O": Requirement.OPTIONAL,
    "P": Requirement.PREFERRED,
    **dict.fromkeys("RYT", Requirement.REQUIRED),
}
_LEVELS: Final[tuple[Level, ...]] = tuple(level for level in Level if level is not Level.ALLOW)
_SUBSYSTEM: Final = "NEGOTIATOR"
_ADVERTISE: Final = (Level.ADVERTISE_STARTD, Level.ADVERTISE_SCHEDD, Level.ADVERTISE_MASTER)

#: The settings that are read of the pool's configuration.
SETTINGS: Final = (
    "COLLECTOR_HOST",
    "COLLECTOR_ADDRESS_FILE",
    "NEGOTIATOR_ADDRESS_FILE",
    "UID_DOMAIN",
    "TRUST_DOMAIN",
    "NO_DNS",
    "DEFAULT_DOMAIN_NAME",
    "LEGACY_ALLOW_SEMANTICS",
    "USE_POOL_USERNAME_EQUIVALENT",
    *(
        f"{verb}_{level}{suffix}"
        for verb in ("ALLOW", "DENY")
        for level in (*_LEVELS, _DEFAULT)
        for suffix in ("", f"_{_SUBSYSTEM}")
    ),
    *(f"SEC_{level}_{feature}" for level in (*_LEVELS, _CLIENT, _DEFAULT) for feature in _FEATURES),
)


@attrs.frozen
class PoolConfiguration:
    """``values`` are the settings of the pool by name; without any, the environment has them."""

    values: Mapping[str, str] = attrs.field(factory=dict)

    def value(self, setting: str) -> str:
        """Return the value of a setting; "" if it has none."""
        return self.values.get(setting, "") if self.values else os.environ.get(f"_CONDOR_{setting}", "")

    def requirement(self, level: str, feature: str) -> Requirement:
        """Return how much a feature such as ENCRYPTION is wanted at a level, or as a client (``CLIENT``).

        The first letter decides; any that HTCondor does not know counts as REQUIRED. Source: ``SecMan::sec_req_param``.
        """
        text = self._first(f"SEC_{each}_{feature}" for each in self._hierarchy(level)).strip()
        return _REQUIREMENTS.get(text[0].upper(), Requirement.REQUIRED) if text else Requirement.OPTIONAL

    def methods(self, level: str) -> tuple[AuthMethod, ...] | None:
        """Return the methods of a level that this program has; None if the pool names none.

        Without CLAIMTOBE, which proves nothing: it is for ``pool.yaml`` to allow.
        """
        text = self._first(f"SEC_{each}_AUTHENTICATION_METHODS" for each in self._hierarchy(level))
        if not text:
            return None
        found = methods_in(text)
        return tuple(method for method in found if method is not AuthMethod.CLAIMTOBE)

    def authorization(self) -> AuthorizationTable:
        """Return who has which level by the pool's lists.

        Source: ``SecMan::getSecSetting``, ``IpVerify::Init``.
        """
        names = HostNames(self.value("DEFAULT_DOMAIN_NAME") if is_true(self.value("NO_DNS")) else None)
        equivalent = self.value("USE_POOL_USERNAME_EQUIVALENT")
        lists: dict[Level, LevelLists] = {
            level: LevelLists.parse(
                self._list("ALLOW", level),
                self._list("DENY", level),
                pool_users=not equivalent or is_true(equivalent),
            )
            for level in _LEVELS
        }
        return AuthorizationTable(lists, names)

    def has_lists(self, level: Level) -> bool:
        """True if the lists of a level decide: those of a pool always do."""
        return bool(self.values) or bool(self._list("ALLOW", level) or self._list("DENY", level))

    def _list(self, verb: str, level: Level) -> str:
        levels = self._hierarchy(level)
        return self._first(
            f"{verb}_{each}{suffix}" for each in levels for suffix in (f"_{_SUBSYSTEM}", "")
        ).strip()

    def _hierarchy(self, level: str) -> Iterator[str]:
        """Yield the levels whose settings count, the first one that has a value (``aConfigNext``)."""
        yield level
        if level in _ADVERTISE:
            yield Level.DAEMON
        if (level == Level.DAEMON or level in _ADVERTISE) and is_true(self.value("LEGACY_ALLOW_SEMANTICS")):
            yield Level.WRITE
        if level != _DEFAULT:
            yield _DEFAULT

    def _first(self, settings: Iterator[str]) -> str:
        return next((text for each in settings if (text := self.value(each))), "")
