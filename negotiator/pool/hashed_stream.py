"""Computes the digest of a file while it is read."""

from __future__ import annotations

import hashlib
import os
from typing import BinaryIO, NamedTuple


class FileStatus(NamedTuple):
    """The size of a file in bytes, and the time of its last change in nanoseconds."""

    size: int
    changed: int


class FileState(NamedTuple):
    """The status of a file when it was opened, and the SHA-256 of all its bytes."""

    status: FileStatus
    digest: bytes


class HashedStream:
    """A file that is open for reading."""

    def __init__(self, stream: BinaryIO) -> None:
        status = os.fstat(stream.fileno())
        self.status = FileStatus(status.st_size, status.st_mtime_ns)
        self._stream = stream
        self._hash = hashlib.sha256()
        self._is_complete = False

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most so many; none at the end.

        :raises OSError: they cannot be read.
        """
        data = self._stream.read(size)
        self._hash.update(data)
        self._is_complete |= not data
        return data

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def state(self) -> FileState | None:
        """Return the state of the file; None unless it was read to its end."""
        return FileState(self.status, self._hash.digest()) if self._is_complete else None
