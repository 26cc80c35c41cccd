"""The exceptions of this room."""

from __future__ import annotations

from negotiator.errors import PoolError


class UnreadableError(PoolError):
    """The rest of a file cannot be read or decompressed; the message has the cause."""


class SnapshotFormatError(PoolError):
    """The bytes are not a snapshot of a known version, or they are damaged."""
