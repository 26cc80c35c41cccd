"""What changed of exceeded limits from cycle to cycle, so that an overfill that lasts is not reported each time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from negotiator.hooks.charges import CounterKey
from negotiator.hooks.summary import Overfill


@attrs.frozen
class OverfillChanges:
    """The changes of exceeded limits since the cycle before; those that are no longer exceeded are as they were."""

    begun: tuple[Overfill, ...] = ()
    grown: tuple[Overfill, ...] = ()
    shrunk: tuple[Overfill, ...] = ()
    ended: tuple[Overfill, ...] = ()


@attrs.define
class OverfillWatch:
    """Compares the exceeded limits of each cycle with those of the cycle before."""

    _last: Mapping[tuple[str, CounterKey], Overfill] = attrs.field(factory=dict, init=False)

    def next(self, overfills: Iterable[Overfill]) -> OverfillChanges:
        """Return what changed since the last call."""
        last, now = self._last, {(each.reason.provenance.plugin, each.counter): each for each in overfills}
        self._last = now
        growth = {key: _excess(each) - _excess(last[key]) for key, each in now.items() if key in last}
        return OverfillChanges(
            begun=tuple(each for key, each in now.items() if key not in last),
            grown=tuple(now[key] for key, by in growth.items() if by > 0),
            shrunk=tuple(now[key] for key, by in growth.items() if by < 0),
            ended=tuple(each for key, each in last.items() if key not in now),
        )


def _excess(overfill: Overfill) -> float:
    return overfill.used - overfill.limit
