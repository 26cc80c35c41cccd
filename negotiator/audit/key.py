"""The key of a keyed audit log, read from a file."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from negotiator.audit.errors import AuditError, naming

if TYPE_CHECKING:
    from pathlib import Path

_SHORTEST = 16
_LONGEST = 4096


def read_key(path: Path) -> bytes:
    """Read a key: all bytes of the file but a line end at its end.

    Refused (AuditError) where others than owner and group may read or write the file, and where it has fewer than 16
    bytes or more than 4096. No error shows any of the contents.
    """
    with (
        naming(path, "read the key"),
        os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream,
    ):
        mode = os.fstat(stream.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise AuditError(f"{path}: a key is a regular file")
        if mode & (stat.S_IROTH | stat.S_IWOTH):
            raise AuditError(f"{path}: anybody may read or write this key (chmod o= it, and make a new key)")
        key = stream.read(_LONGEST + 1).rstrip(b"\r\n")
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise AuditError(f"{path}: a key has {_SHORTEST} to {_LONGEST} bytes (openssl rand -hex 32)")
    return key
