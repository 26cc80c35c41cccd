"""How far a cycle is, for those who wait for it, and which station it is at, for those who measure its times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import attrs

from negotiator.records import Station


@attrs.frozen
class CycleProgress:
    """The station that a cycle is at; of how many requests how many have had a turn, and the matches so far."""

    station: Station
    requests: int = 0
    served: int = 0
    matches: int = 0


#: Is called at the beginning of each station, and before each turn; it must not change what the cycle reads.
ProgressWatcher: TypeAlias = Callable[[CycleProgress], None]


def unwatched(progress: CycleProgress) -> None:
    """Ignore the progress."""
    del progress


#: Is called when a station begins, also once more: the one before has ended. It must not change what the cycle reads.
StationWatcher: TypeAlias = Callable[[Station], None]


def untimed(station: Station) -> None:
    """Measure nothing."""
    del station
