"""Schedds that take long to answer: no cycle waits for them a second time, they are asked in the background.

A schedd that took longer than a quarter of the time limit, whether it failed or not, is slow. From then on its submitters are
asked in a thread of their own, and their requests take part in the next cycle after they arrived; a cycle is started for that.
Cycles wait for the schedd again once it has answered quickly ``owed`` times in a row. Each relapse doubles this number, so a
schedd that hangs now and then costs ever less.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from negotiator.plugin import PoolControl
from negotiator_live.pool.negotiation import Negotiation
from negotiator_live.wire.errors import DaemonError

AT_ONCE: Final = 32
"""Schedds that are asked in the background at the same time."""
_FIRST_PAUSE: Final = 5.0  # seconds after a failure; each further one doubles it
_LONGEST_PAUSE: Final = 60.0
_LONGEST_ABSENCE: Final = 600.0  # seconds after it kept a cycle waiting again
_MOST_OWED: Final = 64
_WAITS: Final = (
    "no cycle waits for it any more: it is asked in the background, and its jobs wait for its answer"
)
_FORGIVEN: Final = 3600.0  # seconds since it was slow last


@attrs.define(eq=False)
class _BackgroundCall:
    """The negotiations with one schedd that are being begun in the background.

    ``begun`` are those that have begun, ``error`` is why one of the others failed. Nobody else uses them until the call ``is_over``.
    """

    negotiations: Sequence[Negotiation]
    begun: list[Negotiation] = attrs.field(factory=list)
    error: DaemonError | None = None
    seconds: float = 0.0
    is_over: bool = False
    _gone: set[Negotiation] = attrs.field(factory=set)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def run(self, control: PoolControl, clock: Callable[[], float]) -> None:
        """Fetch the requests of all submitters, and start a cycle if there are any."""
        since = clock()
        try:
            for each in self.negotiations:
                if control.is_ending:
                    break
                each.fetch()
                self.begun.append(each)
        except DaemonError as error:
            self.error = error
        finally:
            self.seconds = clock() - since
            with self._lock:
                self.is_over = True
            for each in self._gone:
                each.close()
            if any(each.requests for each in self.begun):
                control.start_cycle()

    def close(self, negotiation: Negotiation) -> None:
        """Close a negotiation as soon as no thread uses it."""
        with self._lock:
            if not self.is_over:
                self._gone.add(negotiation)
                return
        negotiation.close()


@attrs.define(eq=False)
class _SlowSchedd:
    """``relapses`` counts the cycles that it kept waiting, ``failures`` those in a row since the last one."""

    relapses: int = 0
    owed: int = 0
    failures: int = 0
    retry: float = 0.0  # not before this time
    why: str = ""
    seen: float = 0.0
    cycle: int = 0  # the last one that it kept waiting
    call: _BackgroundCall | None = None


@attrs.define(eq=False)
class SlowSchedds:
    """The schedds that were slow, by address.

    :param clock: returns seconds that only increase.
    """

    control: PoolControl
    clock: Callable[[], float] = time.monotonic
    _schedds: dict[str, _SlowSchedd] = attrs.field(factory=dict, init=False)
    _cycle: int = attrs.field(default=0, init=False)

    def is_waited_for(self, address: str) -> bool:
        """True unless the schedd at this address is asked in the background."""
        found = self._schedds.get(address)
        return found is None or not (found.owed or found.call)

    def note(self, address: str, seconds: float, limit: float, error: DaemonError | None) -> None:
        """Note how long a schedd kept the present cycle waiting, of the seconds that it may take, and the error if it failed."""
        if seconds <= limit / 4:
            return
        found, now = self._schedds.setdefault(address, _SlowSchedd()), self.clock()
        found.why = str(error) if error else f"it took {seconds:.1f} s to answer"
        if found.cycle != self._cycle:  # its submitters were asked at the same time
            found.cycle, found.seen = self._cycle, now
            found.owed = min(2**found.relapses, _MOST_OWED)
            found.retry = now + min(_FIRST_PAUSE * 2**found.relapses, _LONGEST_ABSENCE)
            found.relapses += 1
            found.failures = 0

    def is_asked(self, negotiation: Negotiation) -> bool:
        """True if a thread uses a negotiation."""
        call = self._call_of(negotiation)
        return call is not None and not call.is_over

    def close(self, negotiations: Iterable[Negotiation]) -> None:
        """Close negotiations, each as soon as no thread uses it."""
        for each in negotiations:
            call = self._call_of(each)
            if call is None:
                each.close()
            else:
                call.close(each)

    def _call_of(self, negotiation: Negotiation) -> _BackgroundCall | None:
        slow = self._schedds.get(str(negotiation.submitter.address))
        return slow.call if slow and slow.call and negotiation in slow.call.negotiations else None

    def ask(
        self, address: str, negotiations: Sequence[Negotiation], limit: float
    ) -> tuple[Sequence[Negotiation], str]:
        """Return what a slow schedd has answered since the last cycle, and why the rest of its jobs wait; ask it again.

        :param negotiations: those with all of its submitters.
        :param limit: the seconds that it may take for one of them.
        """
        slow, now = self._schedds[address], self.clock()
        slow.seen, call = now, slow.call
        if call is not None and call.is_over:
            slow.call = None
            self._judge(slow, call, limit)
            if call.begun or call.error is None:
                return call.begun, str(call.error or "")
            slow.why = str(call.error)
        running = sum(each.call is not None for each in self._schedds.values())
        is_due = slow.owed and now >= slow.retry  # else the next cycle waits for it again
        if slow.call is None and is_due and running < AT_ONCE:
            slow.call = _BackgroundCall(negotiations)
            run = (self.control, self.clock)
            threading.Thread(target=slow.call.run, args=run, name="slow schedd", daemon=True).start()
        return (), f"{slow.why}; {_WAITS}"

    def begin_cycle(self) -> None:
        """Forget the schedds that were not slow for an hour."""
        self._cycle += 1
        before = self.clock() - _FORGIVEN
        self._schedds = {
            address: each
            for address, each in self._schedds.items()
            if each.seen >= before or (each.call and not each.call.is_over)
        }

    def _judge(self, slow: _SlowSchedd, call: _BackgroundCall, limit: float) -> None:
        """Count an answer, or a failure; a schedd that refuses at once is not slow."""
        is_quick = call.seconds <= limit / 4 * max(1, len(call.negotiations))
        if is_quick:
            slow.owed = max(0, slow.owed - 1)
            slow.failures = 0
        if call.error is not None and not is_quick:
            slow.failures += 1
            slow.retry = self.clock() + min(_FIRST_PAUSE * 2 ** (slow.failures - 1), _LONGEST_PAUSE)
