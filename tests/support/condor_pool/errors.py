"""Exceptions of real pools."""

from __future__ import annotations


class PoolUnavailableError(Exception):
    """A real pool could not be made, started or used; the text has the reason and what to do."""
