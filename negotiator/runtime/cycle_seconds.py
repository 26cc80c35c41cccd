"""Measures how long each part of a cycle takes; outside the cycle, so that equal input still gives equal results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from negotiator.cycle.cycle_time import StationWatcher
from negotiator.records import Station


@attrs.define
class CycleSeconds:
    """The seconds of each part of a cycle: ``read``, ``cycle``, ``record_intent``, ``settle``, ``record_outcome``.

    Those of the stations of ``cycle`` (``admit``, ``place``, ``order``, ``match``, ``charge``) have names of their own too.
    ``processor`` are the processor seconds of the same parts.
    """

    of: dict[str, float] = attrs.field(factory=dict)
    processor: dict[str, float] = attrs.field(factory=dict)
    _station: str = ""
    _since: tuple[float, float] = (0.0, 0.0)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Measure a part."""
        begun = _now()
        yield
        self._add(part, begun, _now())

    @contextmanager
    def stations(self) -> Iterator[StationWatcher]:
        """Return what is called when a station begins; the last one ends with the context."""
        yield self._begin
        self._end_station(_now())

    def _begin(self, station: Station) -> None:
        """A station begins, and the one before ends."""
        now = _now()
        self._end_station(now)
        self._station, self._since = station.value, now

    def _end_station(self, now: tuple[float, float]) -> None:
        if self._station:
            self._add(self._station, self._since, now)
            self._station = ""

    def _add(self, part: str, begun: tuple[float, float], ended: tuple[float, float]) -> None:
        for sums, before, after in zip((self.of, self.processor), begun, ended, strict=True):
            sums[part] = sums.get(part, 0.0) + after - before


def _now() -> tuple[float, float]:
    """Return the seconds from any beginning, and the processor seconds of this process."""
    return time.perf_counter(), time.process_time()
