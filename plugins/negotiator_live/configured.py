"""Settings of HTCondor that the environment has: condor_master's start of this program puts them there.

HTCondor's tools and daemons override a setting by an environment variable of the same form.
"""

from __future__ import annotations

import os
import re
from typing import Final

from negotiator_live.security.policy import AuthMethod, Requirement, methods_in
from negotiator_live.security.users import is_pattern

_ROLES: Final = ("CLIENT", "DEFAULT")
_REQUIREMENTS: Final = {
    **dict.fromkeys("NF", Requirement.NEVER),
    "O": Requirement.OPTIONAL,
    "P": Requirement.PREFERRED,
    **dict.fromkeys("RYT", Requirement.REQUIRED),
}
#: The settings that ``pool.yaml`` can replace.
SETTINGS: Final = (
    "COLLECTOR_HOST",
    "NEGOTIATOR_ADDRESS_FILE",
    "UID_DOMAIN",
    "TRUST_DOMAIN",
    "ALLOW_ADMINISTRATOR",
    "DENY_ADMINISTRATOR",
    *(
        f"SEC_{role}_{feature}"
        for feature in ("AUTHENTICATION", "ENCRYPTION", "INTEGRITY", "AUTHENTICATION_METHODS")
        for role in _ROLES
    ),
)


def variable(setting: str) -> str:
    """Return the environment variable of a setting."""
    return f"_CONDOR_{setting}"


def configured(setting: str) -> str:
    """Return the value of a setting; "" if the environment has none."""
    return os.environ.get(variable(setting), "")


def configured_requirement(feature: str) -> Requirement:
    """Return how much a feature is wanted, such as ENCRYPTION: the stricter of ``SEC_CLIENT_...`` and ``SEC_DEFAULT_...``.

    These settings of HTCondor are for the two roles that this program has. Their first letter decides; any that HTCondor does
    not know counts as REQUIRED. Source: ``SecMan::sec_alpha_to_sec_req``.
    """
    texts = (configured(f"SEC_{role}_{feature}").strip() for role in _ROLES)
    found = [_REQUIREMENTS.get(text[0].upper(), Requirement.REQUIRED) for text in texts if text]
    return max(found, key=list(Requirement).index, default=Requirement.OPTIONAL)


def configured_methods() -> tuple[AuthMethod, ...] | None:
    """Return the methods in both of ``SEC_CLIENT_...`` and ``SEC_DEFAULT_AUTHENTICATION_METHODS``; None if neither is set.

    Without CLAIMTOBE, which proves nothing: it is for ``pool.yaml`` to allow.
    """
    texts = [text for role in _ROLES if (text := configured(f"SEC_{role}_AUTHENTICATION_METHODS"))]
    if not texts:
        return None
    first, *others = map(methods_in, texts)
    in_all = (method for method in first if all(method in each for each in others))
    return tuple(method for method in in_all if method is not AuthMethod.CLAIMTOBE)


def allowed_users(level: str) -> tuple[str, ...]:
    """Return the users of an authorization level: those that ``ALLOW_...`` lets in from all hosts.

    Entries with a host, and all if anybody is denied (``DENY_...``), are left out: nobody gets more than in the pool.
    """
    if configured(f"DENY_{level}"):
        return ()
    entries = re.split(r"[,\s]+", configured(f"ALLOW_{level}"))
    users = (entry.partition("/") for entry in entries)
    return tuple(user for user, slash, host in users if is_pattern(user) and (not slash or host == "*"))
