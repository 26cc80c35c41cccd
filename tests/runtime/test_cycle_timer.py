"""When cycles begin, and that a signal is heeded at once: by a clock that the test turns."""

import os
import signal
import threading

import pytest

from negotiator.runtime import cycle_timer as module
from negotiator.runtime.cycle_timer import CycleTimer

FOREVER = 10_000_000.0


class Clock:
    """Stands still but for who waits: each waits as long as it likes, at once."""

    def __init__(self, monkeypatch, on_wait=lambda _number: None):
        self.now, self.waits, self.on_wait = 100.0, [], on_wait
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    def get(self, timeout):
        self.waits.append(timeout)
        self.now += timeout
        self.on_wait(len(self.waits))
        raise module.queue.Empty

    def put(self, _):
        """Nobody waits for it."""


def paced(clock, *arguments):
    pace = CycleTimer(*arguments)
    if clock:
        pace._woken = clock
    return pace


@pytest.fixture
def begun():
    return []


def nothing():
    """Nothing was asked for."""


def test_count_cycles_run_and_between_is_called_before_each(begun):
    with CycleTimer(print, None, 3) as pace:
        for number in pace.cycles(lambda: begun.append("between")):
            begun.append(number)
    assert begun == ["between", 1, "between", 2, "between", 3]


def test_cycles_begin_at_the_interval_however_long_they_take(monkeypatch, begun):
    """The time is that from beginning to beginning; one that takes longer is followed at once."""
    clock = Clock(monkeypatch)
    with paced(clock, print, 60.0, 4) as pace:
        for number, takes in zip(pace.cycles(nothing), (0, 20, 90, 0), strict=False):
            begun.append((number, clock.now))
            clock.now += takes
    assert begun == [(1, 100.0), (2, 160.0), (3, 220.0), (4, 310.0)]


def test_requests_are_polled_every_second_while_waiting(monkeypatch):
    clock, looks = Clock(monkeypatch), []
    with paced(clock, print, 2.5, 2) as pace:
        for _ in pace.cycles(lambda: looks.append(clock.now)):
            pass
    assert clock.waits == [1.0, 1.0, 0.5]
    assert looks == [100.0, 101.0, 102.0, 102.5, 102.5]


def test_a_hangup_requests_a_reload_at_once(begun):
    """The process sends it to itself: it waits for a second that it has not, were it not woken."""
    asked = []
    with CycleTimer(asked.append, FOREVER) as pace:
        for number in pace.cycles(lambda: begun.append(tuple(asked)) or (asked and pace._end(0, None))):
            begun.append(number)
            os.kill(os.getpid(), signal.SIGHUP)
            begun.append(pace._woken.qsize())
    assert begun == [(), 1, 1, ("signal",)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_current_cycle_finish_and_starts_no_other(begun, number):
    with CycleTimer(print, FOREVER) as pace:
        for cycle in pace.cycles(nothing):
            os.kill(os.getpid(), number)
            begun.append(cycle)
    assert begun == [1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_wait_at_once(monkeypatch, begun, number):
    clock = Clock(monkeypatch, lambda wait: wait == 3 and os.kill(os.getpid(), number))
    with paced(clock, print, FOREVER) as pace:
        for cycle in pace.cycles(lambda: begun.append("between")):
            begun.append(cycle)
    assert begun == ["between", 1, "between", "between"]


def test_signal_handlers_are_restored():
    numbers = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    with CycleTimer(print, 1.0):
        assert all(signal.getsignal(number) not in before for number in numbers)
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_run_without_interval_is_interrupted_like_any_command():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with CycleTimer(print, None, 1):
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_outside_the_main_thread_no_signal_is_handled(begun):
    before = signal.getsignal(signal.SIGTERM)

    def run():
        with CycleTimer(print, 0.0, 2) as pace:
            begun.extend(pace.cycles(nothing))
            assert signal.getsignal(signal.SIGTERM) is before

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert begun == [1, 2]


def test_a_signal_is_safe_at_any_moment(begun):
    """Also while the one that waits has just begun to: ten thousand of them, and none is stuck."""
    with CycleTimer(begun.append, 0.001) as pace:
        cycles = pace.cycles(nothing)
        for _ in range(50):
            next(cycles)
            for _ in range(200):
                signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        assert list(cycles) == []
    assert len(begun) == 10_000
