"""Bundles that a process decides many cycles under, each loaded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final

import attrs

from negotiator.bundle import Bundle

_MOST: Final = 8


@attrs.define(eq=False)
class BundleCache:
    """The bundles that were used last, by keys that differ for different bundles."""

    _bundles: dict[Hashable, Bundle] = attrs.field(factory=dict)

    def of(self, key: Hashable, load: Callable[[], Bundle]) -> Bundle:
        """Return the bundle of a key, loaded if it is not known."""
        return self.keep(key, self._bundles.pop(key) if key in self._bundles else load())

    def keep(self, key: Hashable, bundle: Bundle) -> Bundle:
        """Make a bundle that of a key, and return it."""
        self._bundles[key] = bundle
        if len(self._bundles) > _MOST:
            del self._bundles[next(iter(self._bundles))]
        return bundle


#: The bundles of this process.
BUNDLES: Final = BundleCache()
