"""The user who runs a command, according to the system and not the environment."""

from __future__ import annotations

import getpass
import os

from negotiator import posix


def caller() -> tuple[str, tuple[str, ...]]:
    """Return the name and the groups of the process's real user, the primary group first; on Windows no group is known."""
    if not posix.HAS_OWNERS:
        return getpass.getuser(), ()
    import pwd  # noqa: PLC0415 - missing on Windows

    uid, gid = os.getuid(), os.getgid()
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid), ()
    return name, tuple(filter(None, map(_group, dict.fromkeys(os.getgrouplist(name, gid)))))


def _group(gid: int) -> str:
    import grp  # noqa: PLC0415 - missing on Windows

    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return ""
