"""Where the time of a cycle goes: the stations say when they begin, somebody outside the cycle reads the clock."""

from __future__ import annotations

from typing import Protocol

import attrs

from negotiator.records import Station


class StationTimes(Protocol):
    """Is told when the stations of a cycle begin."""

    def begin(self, station: Station) -> None:
        """A station begins, perhaps once more; the one before has ended."""


@attrs.frozen
class Untimed:
    """Measures nothing."""

    def begin(self, station: Station) -> None:
        """Ignore it."""


UNTIMED = Untimed()
