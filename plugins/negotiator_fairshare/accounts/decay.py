"""The update of one account when time has passed: decay of the priority, and usage."""

from __future__ import annotations

import attrs

from negotiator_fairshare.accounts.account import MIN_PRIORITY, AccountRecord
from negotiator_fairshare.accounts.numbers import stored


@attrs.frozen
class Interval:
    """The time from the last update of the accounts to ``now``: how much priority is left after it, and what use adds to it.

    The use of ``seconds`` is charged, of which the part ``gain`` is added to the priority.
    """

    now: int
    seconds: int
    aging: float
    gain: float

    @classmethod
    def since(cls, last: int, now: int, halflife: float) -> Interval:
        """Return the interval from ``last`` to ``now``."""
        seconds = now - last
        aging = 0.5 ** (seconds / halflife)
        return cls(now, seconds, aging, 1 - aging)

    @classmethod
    def of_part(cls, last: int, charged_until: int, now: int, halflife: float) -> Interval:
        """Return the interval in which one of several negotiators charges the use of its own slots.

        The others charge theirs at other times: a priority is linear in use, so that each one lets it age since whichever update was
        the last, and adds what its own slots make of it.

        :param last: the time of the last update by any negotiator; it may be later than ``now``.
        :param charged_until: the time until when this negotiator has charged its slots.
        """
        end, seconds = max(last, now), max(0, now - charged_until)
        late = 0.5 ** ((end - now) / halflife)
        return cls(end, seconds, 0.5 ** ((end - last) / halflife), (1 - 0.5 ** (seconds / halflife)) * late)

    def applied(self, record: AccountRecord) -> AccountRecord:
        """Return an account after this interval: its slots in use are those that it had at the beginning.

        Source: condor_negotiator 25.14.1. The priority approaches the weighted slots in use (of a group: of its subtree)
        by half its distance in each half-life; the interval is charged whole.
        """
        if not self.seconds:
            return attrs.evolve(record, priority=stored(max(MIN_PRIORITY, record.priority * self.aging)))
        used = record.resources_used * self.seconds + record.uncharged_time
        accumulated = stored(record.accumulated_usage + used)
        return attrs.evolve(
            record,
            priority=self._priority(record),
            accumulated_usage=accumulated,
            weighted_accumulated_usage=stored(
                record.weighted_accumulated_usage
                + record.weighted_resources_used * self.seconds
                + record.weighted_uncharged_time
            ),
            begin_usage=self.now if accumulated > 0 and not record.begin_usage else record.begin_usage,
            last_usage=self.now if used > 0 else record.last_usage,
            uncharged_time=0,
            weighted_uncharged_time=0.0,
        )

    def _priority(self, record: AccountRecord) -> float:
        recent = record.weighted_resources_used + record.weighted_uncharged_time / self.seconds
        if record.hierarchical_weighted_resources_used > 0:
            recent = record.hierarchical_weighted_resources_used
        aged = max(record.priority, MIN_PRIORITY) * self.aging + recent * self.gain
        return stored(max(MIN_PRIORITY, aged))
