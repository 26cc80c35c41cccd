"""The time of a cycle: who reached which limit, at which turn, the reasons of requests that had no time left, and how far the cycle is.

A cycle learns the time between two turns only. So all that it decides by the time is in its stops: a cycle that is given the
recorded stops of another one decides the same. Its progress is for those who wait for it, its stations for those who measure its times.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

import attrs

from negotiator import __version__
from negotiator.bundle.time_limits import TIME_KNOBS, TimeLimits
from negotiator.hooks.records import Request
from negotiator.hooks.turn_time import TimeLimit, TurnTime
from negotiator.records import CORE, Provenance, Reason, Station, Verdict

#: A submitter and a schedd; empty where a limit is of all.
_Account: TypeAlias = tuple[str, str]
_ALL: _Account = ("", "")
_OF_CYCLE = tuple(limit for limit in TimeLimit if limit.ends_cycle)
_LONGEST = 200  # characters of a name: the rest does not matter, so that records have names whole
_TEXTS = {
    TimeLimit.CYCLE: "the cycle reached its time limit",
    TimeLimit.SUBMITTER: "the submitter reached its time limit in this cycle",
    TimeLimit.SCHEDD: "the schedd reached its time limit in this cycle",
    TimeLimit.SPIN: "the submitter reached its time limit in the last spin",
}


@attrs.frozen
class TimeStop:
    """A limit that was reached; ``turn`` is the number of turns before it.

    ``submitter`` is empty for a limit of a schedd, and so is ``schedd`` for one of the cycle.
    """

    limit: TimeLimit
    submitter: str
    schedd: str
    turn: int


@attrs.define(eq=False)
class CycleTime(TurnTime):
    """The time of one cycle: make one for each.

    ``stops`` are the limits that were reached, in the order in which that decided something.
    """

    stops: list[TimeStop] = attrs.field(factory=list, init=False)
    turn: int = attrs.field(default=0, init=False)  # the number of turns that have ended
    _over: set[tuple[TimeLimit, _Account]] = attrs.field(factory=set, init=False)
    # Turn, submitter and schedd of the last question whose answer was None: no time passes before the next turn.
    _has_time: tuple[int, str, str] | None = attrs.field(default=None, init=False)

    def reached(self, submitter: str, schedd: str) -> TimeLimit | None:
        """Return the limit that leaves a submitter no time."""
        asked = self.turn, submitter, schedd
        if asked == self._has_time:
            return None
        limits = _limits_of(submitter, schedd)
        found = next((limit for limit, of in limits if self._is_over(limit, of)), None)
        if found is None:
            self._has_time = asked
        return found

    def begin_spin(self, submitter: str, schedd: str) -> None:
        """Count the time of this submitter in a spin from zero."""
        self._over.discard((TimeLimit.SPIN, _account(submitter, schedd)))

    def ends_cycle(self) -> bool:
        """True if nobody has another turn."""
        return any(self._is_over(limit, _ALL) for limit in _OF_CYCLE)

    def reached_last(self, request: Request) -> TimeLimit | None:
        """Return the limit that left the submitter of a request no time, as far as that decided something."""
        if not self._over:
            return None
        limits = _limits_of(request.submitter, request.schedd)
        return next((limit for limit, of in limits if (limit, of) in self._over), None)

    def begin_turns(self) -> None:
        """Begin the first turn: the time before it counts for the limit of the cycle alone."""

    def begin_turn(self) -> None:
        """Begin to count the time of a turn."""

    def end_turn(self, request: Request) -> None:
        """Count the time of a turn for the submitter and the schedd of its request."""
        del request
        self.turn += 1

    @abstractmethod
    def _is_reached(self, limit: TimeLimit, of: _Account) -> bool:
        """Return whether a limit is reached now, for the first time."""

    def _is_over(self, limit: TimeLimit, of: _Account) -> bool:
        if (limit, of) not in self._over and self._is_reached(limit, of):
            self._over.add((limit, of))
            self.stops.append(TimeStop(limit, *of, self.turn))
        return (limit, of) in self._over


def _counted(stops: Iterable[TimeStop]) -> Counter[TimeStop]:
    return Counter(stops)


@attrs.define(eq=False)
class RecordedTime(CycleTime):
    """The time as it passed in an earlier cycle with the same input: its stops. Without any, no limit is ever reached."""

    recorded: Counter[TimeStop] = attrs.field(factory=Counter, converter=_counted)

    def _is_reached(self, limit: TimeLimit, of: _Account) -> bool:
        stop = TimeStop(limit, *of, self.turn)
        if stop not in self.recorded:
            return False
        # Each counts once: a submitter may reach the limit of a spin, and begin the next one without a turn in between.
        self.recorded -= Counter([stop])
        return True

    def reached(self, submitter: str, schedd: str) -> TimeLimit | None:
        """Return the limit that leaves a submitter no time."""
        return super().reached(submitter, schedd) if self.recorded or self._over else None


@attrs.define(eq=False)
class MeasuredTime(CycleTime):
    """The time by a clock, which is read when turns begin and end.

    :param limits: how much time there is.
    :param seconds: returns the seconds since the cycle began.
    :param is_stopped: returns whether an administrator wants the cycle to end.
    """

    limits: TimeLimits
    seconds: Callable[[], float]
    is_stopped: Callable[[], bool] = lambda: False
    _now: float = attrs.field(default=0.0, init=False)
    _stopped: bool = attrs.field(default=False, init=False)
    _begun: float = attrs.field(default=0.0, init=False)
    _used: defaultdict[tuple[TimeLimit, _Account], float] = attrs.field(
        factory=lambda: defaultdict(float), init=False
    )

    def begin_spin(self, submitter: str, schedd: str) -> None:
        """Count the time of this submitter in a spin from zero."""
        super().begin_spin(submitter, schedd)
        self._used[TimeLimit.SPIN, _account(submitter, schedd)] = 0.0

    def begin_turns(self) -> None:
        """Read the clock."""
        self._read()

    def begin_turn(self) -> None:
        """Read the clock."""
        self._begun = self.seconds()

    def end_turn(self, request: Request) -> None:
        """Read the clock, and count the time of the turn."""
        super().end_turn(request)
        self._read()
        for limit, of in _limits_of(request.submitter, request.schedd):
            if limit is not TimeLimit.SPIN or (limit, of) in self._used:
                self._used[limit, of] += self._now - self._begun

    def _read(self) -> None:
        self._now, self._stopped = self.seconds(), self.is_stopped()

    def _is_reached(self, limit: TimeLimit, of: _Account) -> bool:
        if limit is TimeLimit.ADMINISTRATOR:
            return self._stopped
        used = self._now if limit is TimeLimit.CYCLE else self._used.get((limit, of), 0.0)
        return used >= self.limits.seconds(limit)


def _limits_of(submitter: str, schedd: str) -> Iterable[tuple[TimeLimit, _Account]]:
    """Yield all limits of a submitter, in the order in which condor_negotiator tests them."""
    account = _account(submitter, schedd)
    yield TimeLimit.SUBMITTER, account
    if schedd:
        yield TimeLimit.SCHEDD, ("", account[1])
    yield TimeLimit.ADMINISTRATOR, _ALL
    yield TimeLimit.CYCLE, _ALL
    yield TimeLimit.SPIN, account


def _account(submitter: str, schedd: str) -> _Account:
    return submitter[:_LONGEST], schedd[:_LONGEST]


@attrs.frozen
class ReachedLimit:
    """A limit that was reached, and the reason of those whom it left no time."""

    stop: TimeStop
    reason: Reason


def time_reason(limit: TimeLimit, limits: TimeLimits) -> Reason:
    """Return the reason of requests that a limit left no time."""
    code = f"time_per_{limit}"
    if limit is TimeLimit.ADMINISTRATOR:
        code, rule, text = "cycle_stopped", "stop", "an administrator ended the cycle"
    else:
        rule, text = TIME_KNOBS[limit], f"{_TEXTS[limit]}: {TIME_KNOBS[limit]} is {limits.seconds(limit):g} s"
    seconds = limits.seconds(limit)
    numbers = {"limit": seconds} if math.isfinite(seconds) else {}
    where = Provenance(Station.ORDER, CORE, __version__, rule, limits.sources.get(limit))
    return Reason(Verdict.WAITING, code, text, where, numbers=numbers)


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
