"""The dictionary that all ads of a pool share."""

from __future__ import annotations

from typing import Final

from negotiator.classad.tables import AdDictionary
from negotiator.pool.secrets import is_secret

ASSIGNED_NAMES: Final = ("Name", "ClusterId", "ProcId")
"""Attributes that ``identify`` adds to ads that lack them. They are entered first, so that they always fit."""


def pool_dictionary() -> AdDictionary:
    """Return an empty dictionary that stores no secrets."""
    dictionary = AdDictionary(is_secret)
    for name in ASSIGNED_NAMES:
        dictionary.spelling(name)
    return dictionary
