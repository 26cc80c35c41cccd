"""What Linux and macOS have and Windows lacks: users of processes, owners of files, locks, flags of ``os.open``.

Without them the program reads files and decides cycles; what needs them raises ``OSError`` with a message that says so.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Final

#: True if files have an owner and modes that say who may write them.
HAS_OWNERS: Final = hasattr(os, "geteuid")

# Flags that a system lacks have no effect there.
O_CLOEXEC: Final[int] = getattr(os, "O_CLOEXEC", 0)
O_DIRECTORY: Final[int] = getattr(os, "O_DIRECTORY", 0)
O_NOCTTY: Final[int] = getattr(os, "O_NOCTTY", 0)
O_NOFOLLOW: Final[int] = getattr(os, "O_NOFOLLOW", 0)
O_NONBLOCK: Final[int] = getattr(os, "O_NONBLOCK", 0)


def effective_user() -> int:
    """Return the number of the user whose rights this process has; 0, the owner of all files, where files have no owners."""
    return os.geteuid() if HAS_OWNERS else 0


def is_set_user_id() -> bool:
    """True in a set-user-ID program, whose owner is not the caller."""
    return HAS_OWNERS and os.getuid() != os.geteuid()


def is_on_read_only_system(path: os.PathLike[str] | str) -> bool:
    """True if the file system of a path is mounted read-only."""
    return hasattr(os, "statvfs") and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def lock_file(descriptor: int, *, shared: bool = False) -> None:
    """Lock an open file for this process, without waiting; the lock ends with the descriptor.

    :param shared: other processes may have such a lock too.
    :raises BlockingIOError: another process has it.
    :raises OSError: the system has no such locks.
    """
    try:
        import fcntl  # noqa: PLC0415 - missing on Windows
    except ModuleNotFoundError:
        raise missing("locks of files") from None
    fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def missing(what: str) -> OSError:
    """Return the exception for what this system lacks.

    :param what: the missing thing, such as "locks of files".
    """
    return OSError(errno.ENOSYS, f"{what} are missing on this system ({sys.platform}); use Linux or macOS")
