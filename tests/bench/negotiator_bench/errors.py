"""Why nothing could be measured."""

from __future__ import annotations


class BenchError(Exception):
    """A measurement could not be made."""


class PeerError(BenchError):
    """The process that measures for us ended before it answered."""


class NotReadError(BenchError):
    """An ad that was made for a measurement was refused by the reader."""
