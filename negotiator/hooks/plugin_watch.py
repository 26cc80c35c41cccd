"""Names the calls of plugins that go on for long, while they go on: Python cannot interrupt them, but can name them.

Each call of a plugin's code is entered in ``plugin_output.running_calls``, with its beginning. A thread looks at them twice a
second; a call that runs for longer than its ``report_seconds`` is reported once, and again when it has ended. Nothing that is
decided depends on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import attrs

from negotiator.hooks.plugin_output import PluginCall, running_calls

#: Seconds between two looks.
INTERVAL: Final = 0.5


@attrs.frozen
class LongCall:
    """A call of a plugin's code that takes long: ``subject`` is the hook or part of the plugin, ``about`` a request if there is one.

    ``began`` is in seconds since the epoch; ``seconds`` is how long it has run, ``has_ended`` whether it ran no longer.
    """

    subject: str
    about: str
    began: float
    seconds: float
    has_ended: bool = False

    def __str__(self) -> str:
        """``negotiator_charges of plugin site has run for 10 s (job 1.0 of alice), and goes on``."""
        about = f" ({self.about})" if self.about else ""
        if self.has_ended:
            return f"{self.subject} ended after {self.seconds:.0f} s{about}"
        return f"{self.subject} has run for {self.seconds:.0f} s{about}, and goes on"


Reporter = Callable[[LongCall], None]


@contextmanager
def reporting_long_calls(report: Reporter, clock: Callable[[], float] = time.time) -> Iterator[None]:
    """Report the calls of plugins that go on for long, as long as the context lasts.

    :param report: called in a thread of its own with each call when it takes too long, and when it has ended.
    :param clock: returns the time in seconds since the epoch.
    """
    watch = _Watch(report, clock)
    thread = threading.Thread(target=watch.run, name="long calls of plugins", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.stopped.set()
        thread.join()


@attrs.define(eq=False)
class _Watch:
    report: Reporter
    clock: Callable[[], float]
    stopped: threading.Event = attrs.field(factory=threading.Event)
    _reported: dict[PluginCall, LongCall] = attrs.field(factory=dict)

    def run(self) -> None:
        while not self.stopped.wait(INTERVAL):
            self._look()
        self._look()  # for the ends

    def _look(self) -> None:
        now, present = time.monotonic(), set[PluginCall]()
        for innermost in list(running_calls.values()):
            call: PluginCall | None = innermost
            while call is not None:
                present.add(call)
                seconds = now - call.began
                if seconds >= call.report_seconds and call not in self._reported:
                    found = LongCall(str(call.subject), _about(call), self.clock() - seconds, seconds)
                    self._reported[call] = found
                    self.report(found)
                call = call.outer
        for call in [each for each in self._reported if each not in present]:
            found = self._reported.pop(call)
            ended = call.ended or now
            self.report(attrs.evolve(found, seconds=ended - call.began, has_ended=True))


def _about(call: PluginCall) -> str:
    """Return which request a call is about; empty if it is about none."""
    if call.arguments is None:
        return ""
    from negotiator.hooks.tracing import describe_subject  # noqa: PLC0415 - imports NumPy

    return describe_subject(call.arguments)
