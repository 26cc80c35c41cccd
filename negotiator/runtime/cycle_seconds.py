"""Measures how long each part of a cycle takes; outside the cycle, so that equal input still gives equal results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from negotiator.cycle.progress import StationWatcher
from negotiator.records import Station


@attrs.define
class CycleSeconds:
    """The seconds of each part of a cycle: ``read``, ``cycle``, ``record_intent``, ``settle``, ``record_outcome``.

    Those of the stations of ``cycle`` (``admit``, ``place``, ``order``, ``match``, ``charge``) have names of their own too.
    """

    of: dict[str, float] = attrs.field(factory=dict)
    _station: str = ""
    _since: float = 0.0

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Measure a part."""
        begun = time.perf_counter()
        yield
        self.of[part] = time.perf_counter() - begun

    @contextmanager
    def stations(self) -> Iterator[StationWatcher]:
        """Return what is called when a station begins; the last one ends with the context."""
        yield self._begin
        self._end_station(time.perf_counter())

    def _begin(self, station: Station) -> None:
        """A station begins, and the one before ends."""
        now = time.perf_counter()
        self._end_station(now)
        self._station, self._since = station.value, now

    def _end_station(self, now: float) -> None:
        if self._station:
            self.of[self._station] = self.of.get(self._station, 0.0) + now - self._since
            self._station = ""
