"""When cycles wait for a schedd that was slow."""

import pytest

from cedar import EXCHANGE
from control import NotingControl
from negotiator_live.pool.slow_schedds import SlowSchedds
from negotiator_live.wire.errors import DaemonError


class Asked:
    """A negotiation with a schedd that takes some seconds to answer, or fails."""

    requests = ()

    def __init__(self, clock, seconds, error):
        self.clock, self.seconds, self.error = clock, seconds, error

    def fetch(self):
        self.clock.now += self.seconds
        if self.error is not None:
            raise self.error


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize("error", [None, DaemonError(EXCHANGE, "denied")])
@pytest.mark.parametrize("seconds", [0.0, 15.0])
def test_a_cycle_waits_again_for_a_schedd_that_has_answered_or_refused_quickly(monkeypatch, error, seconds):
    clock = Clock()
    schedds = SlowSchedds(NotingControl(), clock)
    monkeypatch.setattr("threading.Thread.start", lambda thread: thread.run())
    schedds.begin_cycle()
    schedds.note("<s>", 20.0, 20.0, None)
    waited = []
    for _ in range(8):
        clock.now += 60
        schedds.begin_cycle()
        waited.append(schedds.is_waited_for("<s>"))
        if not waited[-1]:
            schedds.ask("<s>", [Asked(clock, seconds, error)], 20.0)
    assert waited[0] is False
    assert waited[2:] == [not seconds] * 6
