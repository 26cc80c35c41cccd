"""The version of the ClassAd language."""

from __future__ import annotations

from typing import Final

CLASSAD_VERSION: Final = "25.14.1"
"""HTCondor's release whose language and bindings this package has."""


def version() -> str:
    """Return the version of HTCondor's ClassAd library that this package behaves like."""
    return CLASSAD_VERSION
