"""The beginnings of cycles, and immediate handling of signals, by a clock that the test controls."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from negotiator.bundle.time_limits import CycleIntervals
from negotiator.runtime import cycle_timer as module
from negotiator.runtime.cycle_timer import CycleTimer, CycleTrigger, WorkClock


def every(seconds):
    """Return what returns these intervals between cycles, and none for a requested cycle."""
    return lambda: CycleIntervals(seconds, 0, 0)


FOREVER = every(10_000_000.0)


class Clock:
    """A clock that advances only when the timer waits; waits return at once."""

    def __init__(self, monkeypatch, on_wait=lambda _number: None):
        self.now, self.waits, self.on_wait = 100.0, [], on_wait
        self.work = WorkClock(lambda: self.now)
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)

    is_requested = is_ending = False

    def wait(self, seconds):
        self.waits.append(seconds)
        self.now += seconds
        self.on_wait(len(self.waits))

    def wake(self):
        """Ignore a wake-up: no thread waits."""

    def use_signals(self, *, are_handled):
        """Ignore it: nothing ends this trigger."""


def timer_with(clock, *arguments):
    timer = CycleTimer(*arguments)
    if clock:
        timer.trigger = clock
    return timer


@pytest.fixture
def events():
    return []


def no_request():
    """Do nothing between cycles."""


def test_count_cycles_run_and_between_is_called_before_each(events):
    with CycleTimer(print, None, 3) as timer:
        for number in timer.cycles(lambda: events.append("between")):
            events.append(number)
    assert events == ["between", 1, "between", 2, "between", 3]


def test_cycles_begin_at_the_interval_however_long_they_take(monkeypatch, events):
    """The interval is from beginning to beginning; after a longer cycle the next one begins at once."""
    clock = Clock(monkeypatch)
    with timer_with(clock, print, every(60.0), 4) as timer:
        for number, takes in zip(timer.cycles(no_request), (0, 20, 90, 0), strict=False):
            events.append((number, clock.now))
            clock.now += takes
    assert events == [(1, 100.0), (2, 160.0), (3, 220.0), (4, 310.0)]


def test_requests_are_polled_every_second_while_waiting(monkeypatch):
    clock, looks = Clock(monkeypatch), []
    with timer_with(clock, print, every(2.5), 2) as timer:
        for _ in timer.cycles(lambda: looks.append(clock.now)):
            pass
    assert clock.waits == [1.0, 1.0, 0.5]
    assert looks == [100.0, 101.0, 102.0, 102.5, 102.5]


def test_a_hangup_requests_a_reload_at_once(events):
    """The process sends SIGHUP to itself during a wait that would otherwise not end."""
    requests = []
    with CycleTimer(requests.append, FOREVER) as timer:
        for number in timer.cycles(
            lambda: events.append(tuple(requests)) or (requests and timer._end(0, None))
        ):
            events.append(number)
            os.kill(os.getpid(), signal.SIGHUP)
            events.append(requests)
    assert events == [(), 1, ["signal"], ("signal",)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_current_cycle_finish_and_starts_no_other(events, number):
    with CycleTimer(print, FOREVER) as timer:
        for cycle in timer.cycles(no_request):
            os.kill(os.getpid(), number)
            events.append(cycle)
    assert events == [1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_wait_at_once(monkeypatch, events, number):
    clock = Clock(monkeypatch, lambda wait: wait == 3 and os.kill(os.getpid(), number))
    with timer_with(clock, print, FOREVER) as timer:
        for cycle in timer.cycles(lambda: events.append("between")):
            events.append(cycle)
    assert events == ["between", 1, "between", "between"]


def test_signal_handlers_are_restored():
    numbers = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    with CycleTimer(print, every(1.0)):
        assert all(signal.getsignal(number) not in before for number in numbers)
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_run_without_interval_is_interrupted_like_any_command():
    """Outside of a cycle."""
    with pytest.raises(KeyboardInterrupt), CycleTimer(print, None, 1):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("intervals", [None, FOREVER])
def test_the_first_signal_in_a_cycle_stops_it_and_the_second_interrupts_it(intervals, events):
    def interrupt_twice():
        with CycleTimer(print, intervals, 5) as timer, timer.stop.listening():
            signal.raise_signal(signal.SIGINT)
            events.append(timer.stop.is_requested)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        interrupt_twice()
    assert events == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_after_a_stopped_cycle_no_other_one_begins(events):
    with CycleTimer(print, None, 5) as timer:
        for cycle in timer.cycles(no_request):
            with timer.stop.listening():
                signal.raise_signal(signal.SIGTERM)
            events.append(cycle)
    assert events == [1]


def test_a_signal_that_is_ignored_stays_ignored():
    """As for a command in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with CycleTimer(print, None, 1) as timer, timer.stop.listening():
            signal.raise_signal(signal.SIGINT)
        assert not timer.stop.is_requested
    finally:
        signal.signal(signal.SIGINT, before)


def test_outside_the_main_thread_no_signal_is_handled(events):
    before = signal.getsignal(signal.SIGTERM)

    def run():
        with CycleTimer(print, every(0.0), 2) as timer:
            events.extend(timer.cycles(no_request))
            assert signal.getsignal(signal.SIGTERM) is before

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert events == [1, 2]


def test_a_signal_is_safe_at_any_moment(events):
    """Even when a wait has just begun: ten thousand signals, and no wait hangs."""
    with CycleTimer(events.append, every(0.001)) as timer:
        cycles = timer.cycles(no_request)
        for _ in range(50):
            next(cycles)
            for _ in range(200):
                signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGTERM)
        assert list(cycles) == []
    assert len(events) == 10_000


def test_a_requested_cycle_begins_at_once_and_the_next_one_an_interval_after_it(monkeypatch, events):
    clock = Clock(monkeypatch)
    clock.on_wait = lambda number: setattr(clock, "is_requested", number == 3)
    with timer_with(clock, print, every(60.0), 3) as timer:
        events += [clock.now for _ in timer.cycles(no_request)]
    assert events == [100.0, 103.0, 163.0]


def test_a_cycle_requested_by_another_thread_ends_the_wait(events):
    trigger = CycleTrigger()
    with CycleTimer(print, FOREVER, 2, trigger=trigger) as timer:
        for number in timer.cycles(no_request):
            events.append(number)
            threading.Thread(target=trigger.start_cycle).start()
    assert events == [1, 2]


def begun(monkeypatch, intervals, takes, requests=()):
    """Return when cycles begin that take so long, if others are requested at these times."""
    clock = Clock(monkeypatch, lambda _: setattr(clock, "is_requested", any(clock.now >= at for at in left)))
    left, found = list(requests), []
    with timer_with(clock, print, intervals, len(takes)) as timer:
        for _, seconds in zip(timer.cycles(no_request), takes, strict=True):
            left[:] = [at for at in left if at > clock.now]
            found.append(clock.now)
            clock.now += seconds
    return found


def test_after_a_long_cycle_the_next_one_waits_for_the_delay(monkeypatch):
    intervals = CycleIntervals(interval=60, minimum=5, delay=20)
    assert begun(monkeypatch, lambda: intervals, (10, 50, 90, 1)) == [100, 160, 230, 340]


def test_a_requested_cycle_begins_at_once_after_the_minimum_and_the_delay(monkeypatch):
    """One request starts one cycle: the one after it begins at its time."""
    intervals = CycleIntervals(interval=60, minimum=5, delay=3)
    assert begun(monkeypatch, lambda: intervals, (1, 4, 1), [130]) == [100, 130, 190]
    assert begun(monkeypatch, lambda: intervals, (1, 4, 1), [101]) == [100, 105, 165]
    assert begun(monkeypatch, lambda: intervals, (4, 4, 1), [102]) == [100, 107, 167]


def test_a_reload_changes_the_intervals_of_the_present_wait(monkeypatch):
    clock = Clock(monkeypatch)
    with timer_with(clock, print, lambda: CycleIntervals(60 if clock.now < 110 else 30, 5, 0), 2) as timer:
        seen = [clock.now for _ in timer.cycles(no_request)]
    assert seen == [100, 130]


def test_a_tool_of_the_pool_ends_the_wait_and_the_cycle(events):
    trigger = CycleTrigger()
    with CycleTimer(print, FOREVER, None, stop=trigger.stop, trigger=trigger) as timer:
        for number in timer.cycles(no_request):
            events.append(number)
            threading.Thread(target=trigger.end).start()
    assert events == [1]
    assert timer.stop.is_requested


def test_one_wait_answers_all_wake_ups_before_it(events):
    """A flood of them from the network must not make the timer look for requests as often."""
    trigger = CycleTrigger()
    for _ in range(10_000):
        trigger.wake()
    trigger.wait(60)
    thread = threading.Thread(
        target=lambda: events.append("waits") or trigger.wait(60) or events.append("woken")
    )
    thread.start()
    thread.join(0.3)
    assert events == ["waits"]
    trigger.wake()
    thread.join()
    assert events == ["waits", "woken"]


def test_an_end_that_is_requested_twice_does_not_interrupt_the_end():
    """The first one sends SIGTERM to this process; a second SIGTERM would end it at once."""
    trigger = CycleTrigger()
    with CycleTimer(print, FOREVER, None, stop=trigger.stop, trigger=trigger) as timer:
        for _ in timer.cycles(no_request):
            threads = [threading.Thread(target=trigger.end) for _ in range(20)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            trigger.end()
    trigger.end()
    assert timer.stop.is_requested


def test_a_wait_is_progress_and_a_cycle_that_hangs_is_none(monkeypatch):
    """A supervisor ends a negotiator that makes none."""
    clock, idle = Clock(monkeypatch, lambda _: idle.append(clock.work.idle_seconds())), []
    with timer_with(clock, print, every(10.0), 2) as timer:
        for _ in timer.cycles(no_request):
            assert clock.work.idle_seconds() == 0
            clock.now += 5
            assert clock.work.idle_seconds() == 5
    assert idle == [1.0] * 5


#: A call of a plugin that takes half a second after SIGTERM; one without progress is ended after 0.1 s.
CALL = """
import signal, threading, time
from negotiator.bundle.time_limits import CycleIntervals
from negotiator.hooks.plugin_output import running_plugin
from negotiator.runtime.cycle_timer import CycleTimer

with CycleTimer(print, lambda: CycleIntervals(1, 1, 1), None, hanging_seconds=0.1) as timer:
    with running_plugin("the call", {longest_step}):
        signal.raise_signal(signal.SIGTERM)
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            time.sleep(0.02)
            {progress}
"""


@pytest.mark.parametrize(
    ("longest_step", "progress", "code"),
    [(0, "pass", -signal.SIGTERM), (60, "pass", 0), (0, "timer.trigger.work.note()", 0)],
    ids=["hangs", "has longer steps", "makes progress"],
)
def test_after_a_signal_a_call_of_a_plugin_that_makes_progress_may_end(longest_step, progress, code):
    program = CALL.format(longest_step=longest_step, progress=progress)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code
    assert ("the call did not return within 0.1 s" in done.stderr) is bool(code)
