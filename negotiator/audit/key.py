"""The key of a keyed audit log, read from a file."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from negotiator import posix
from negotiator.audit.errors import AuditError, naming

if TYPE_CHECKING:
    from pathlib import Path

_SHORTEST = 16
_LONGEST = 4096


def read_key(path: Path) -> bytes:
    """Return the key in a file: all its bytes without a line end at the end.

    :raises AuditError: others than owner and group may read or write the file, or it has fewer than 16 bytes or more than
        4096. No message shows any of the contents.
    """
    with (
        naming(path, "read the key"),
        os.fdopen(os.open(path, os.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC), "rb") as stream,
    ):
        mode = os.fstat(stream.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise AuditError(f"{path}: a key must be a regular file")
        if mode & (stat.S_IROTH | stat.S_IWOTH):
            raise AuditError(f"{path}: every user may read or write this key (make a new one, with chmod o=)")
        key = stream.read(_LONGEST + 1).rstrip(b"\r\n")
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise AuditError(f"{path}: a key must have {_SHORTEST} to {_LONGEST} bytes (openssl rand -hex 32)")
    return key
