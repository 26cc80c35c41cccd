"""The user who runs a command, according to the system and not the environment."""

from __future__ import annotations

import grp
import os
import pwd


def caller() -> tuple[str, tuple[str, ...]]:
    """Return the name and the groups of the process's real user, the primary group first."""
    uid, gid = os.getuid(), os.getgid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid), ()
    return name, tuple(filter(None, map(_group, dict.fromkeys(os.getgrouplist(name, gid)))))


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""
