"""The dictionary of a pool: which attributes of its ads are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from negotiator.classad.tables.dictionary import AdDictionary
from negotiator.pool.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable


GIVEN: Final = ("Name", "ClusterId", "ProcId")
"""Attributes that an ad is given where it lacks them (see ``identity``): there is always room for their names."""


def pool_dictionary(names: Iterable[str] | None = None) -> AdDictionary:
    """Return an empty dictionary for the ads of a pool: never a secret, and only the attributes ``names`` if given."""
    dictionary = AdDictionary(names, is_secret)
    for name in GIVEN:
        dictionary.spelling(name)
    return dictionary
