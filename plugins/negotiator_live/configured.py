"""Settings of HTCondor that the environment has: condor_master's start of this program puts them there.

HTCondor's tools and daemons override a setting by an environment variable of the same form.
"""

from __future__ import annotations

import os
import re

from negotiator_live.security.users import is_pattern


def variable(setting: str) -> str:
    """Return the environment variable of a setting."""
    return f"_CONDOR_{setting}"


def configured(setting: str) -> str:
    """Return the value of a setting; "" if the environment has none."""
    return os.environ.get(variable(setting), "")


def allowed_users(level: str) -> tuple[str, ...]:
    """Return the users of an authorization level: those that ``ALLOW_...`` lets in from all hosts.

    Entries with a host, and all if anybody is denied (``DENY_...``), are left out: nobody gets more than in the pool.
    """
    if configured(f"DENY_{level}"):
        return ()
    entries = re.split(r"[,\s]+", configured(f"ALLOW_{level}"))
    users = (entry.partition("/") for entry in entries)
    return tuple(user for user, slash, host in users if is_pattern(user) and (not slash or host == "*"))
