"""Exceptions of measurements."""

from __future__ import annotations


class BenchError(Exception):
    """A measurement could not be made."""


class ProcessFailedError(BenchError):
    """A process that measures failed, or ended before it answered."""


class NotReadError(BenchError):
    """The reader refused an ad that was generated for a measurement."""


class RealPoolError(BenchError):
    """A real HTCondor pool could not be used."""
