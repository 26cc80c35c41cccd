"""The update of one account when time has passed: decay of the priority, and usage."""

from __future__ import annotations

import attrs

from negotiator_fairshare.accounts.account import MIN_PRIORITY, AccountRecord
from negotiator_fairshare.accounts.numbers import stored


@attrs.frozen
class Interval:
    """The time from the last update of the accounts to ``now``: ``seconds`` > 0, and how much priority is left after it."""

    now: int
    seconds: int
    aging: float

    @classmethod
    def since(cls, last: int, now: int, halflife: float) -> Interval:
        """Return the interval from ``last`` to ``now``."""
        seconds = now - last
        return cls(now, seconds, 0.5 ** (seconds / halflife))

    def applied(self, record: AccountRecord) -> AccountRecord:
        """Return an account after this interval: its slots in use are those that it had at the beginning.

        Source: condor_negotiator 25.14.1. The priority approaches the weighted slots in use (of a group: of its subtree)
        by half its distance in each half-life; the interval is charged whole.
        """
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
        aged = max(record.priority, MIN_PRIORITY) * self.aging + recent * (1 - self.aging)
        return stored(max(MIN_PRIORITY, aged))
