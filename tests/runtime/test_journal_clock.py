"""Matches age by proven time: a wall clock that jumps does not hand a slot out twice."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.app.runner import open_runner
from negotiator.classad import Table
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.journal_clock import (
    JournalTime,
    OrderedClock,
    PoolTimes,
    Uptime,
    pool_times,
    system_uptime,
)
from pools import NOW, matched, slot, snapshot, write_bundle
from queueing import World, app, records

TIMEOUT = 600  # the default claim_timeout
USED = """MyType = "Machine"
Name = "slot1@h"
State = "Claimed"
RemoteUser = "ann@d"
Cpus = 1
SlotWeight = 1
Requirements = true
"""


@pytest.fixture
def world(tmp_path):
    """A negotiator that has matched the one job with the one slot, and whose pool does not show that yet."""
    made = World(tmp_path)
    made.uptime = 0.0
    made.slots, made.jobs = [timed_slot(NOW)], [app(1)]
    with made:
        assert len(made.cycle().matches) == 1
        yield made


def timed_slot(now, **more):
    return slot(0, **{"LastHeardFrom": str(int(now)), "MyCurrentTime": str(int(now))} | more)


def pass_time(world, *, wall=0, uptime=0, pool=None, restart=False, boot=None):
    """Move the clocks of a negotiator, and run a cycle; return the matches."""
    world.now += wall
    world.uptime += uptime
    world.boot = boot or world.boot
    if pool is not None:
        world.slots = [timed_slot(pool)]
    if restart:
        world.stop()
        world.start()
    return matched(world.cycle())


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("wall", [TIMEOUT + 1, 10 * TIMEOUT, -10 * TIMEOUT])
def test_a_jump_of_the_wall_clock_hands_nothing_out_twice(world, wall, restart):
    """In one process, and over a restart."""
    assert pass_time(world, wall=wall, uptime=1, restart=restart) == []
    assert pass_time(world, wall=-wall, uptime=1, restart=restart) == []


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("wall", [TIMEOUT + 1, 0, -TIMEOUT])
def test_a_match_expires_when_the_machine_was_up_for_that_long(world, wall, restart):
    """Whatever the wall clock shows."""
    assert pass_time(world, wall=wall, uptime=TIMEOUT, restart=restart) == []
    assert len(pass_time(world, uptime=1, restart=restart)) == 1


def test_a_match_expires_when_the_ads_of_the_pool_prove_that_time_passed(world):
    """After a start of the machine there is no other proof."""
    late = NOW + TIMEOUT + 1
    assert pass_time(world, wall=TIMEOUT + 1, restart=True, boot="second") == []
    assert len(pass_time(world, pool=late)) == 1


def test_ads_prove_no_more_time_than_the_wall_clock(world):
    """A machine with a clock in the future, or old ads that are replaced by new ones."""
    assert pass_time(world, wall=1, pool=NOW + 10 * TIMEOUT, restart=True, boot="second") == []


def test_a_few_wrong_clocks_in_the_pool_prove_nothing():
    slots = [
        timed_slot(NOW),
        timed_slot(NOW),
        timed_slot(NOW + 10 * TIMEOUT),
        slot(3),
        slot(4, LastHeardFrom='"x"'),
    ]
    assert pool_times(snapshot(slots, []).slots) == PoolTimes(NOW + 10 * TIMEOUT, NOW)


def test_an_ad_is_as_old_as_the_oldest_of_its_times():
    """The collector may run on the machine whose clock jumped."""
    slots = [timed_slot(NOW, LastHeardFrom=str(int(NOW) + 9999))]
    assert pool_times(snapshot(slots, []).slots) == PoolTimes(NOW, NOW)
    assert pool_times(snapshot([slot(0)], []).slots) is None
    assert pool_times(Table.from_ads(())) is None


def test_a_jump_is_reported(world):
    """With its size; small corrections are not."""
    world.now += 3600
    world.uptime += 10
    report = world.run.next_cycle()
    assert report.clock_jump == 3590
    world.now += 30
    assert world.run.next_cycle().clock_jump == 0


@given(st.lists(st.tuples(st.integers(-9999, 9999), st.integers(0, 900), st.integers(0, 900)), max_size=20))
def test_the_proven_time_never_moves_back_nor_faster_than_real_time(steps):
    """Wall clocks move anyhow; the ads of the pool are late by any time."""
    real, wall, now = 0.0, 0.0, JournalTime.begin(0.0, Uptime(0.0, "a"))
    for jump, passed, late in [(0, 0, 0), *steps]:
        real, wall = real + passed, wall + passed + jump
        before, now = now, now.advanced(wall, Uptime(real, "a"), PoolTimes(real, real - late))
        assert before.time <= now.time <= real


def test_the_uptime_of_the_system_is_comparable_between_calls():
    first, second = system_uptime(), system_uptime()
    assert first.boot == second.boot
    assert first.seconds <= second.seconds


@given(st.lists(st.tuples(st.floats(-7200, 7200), st.floats(0, 600)), min_size=1, max_size=20))
def test_an_ordered_clock_never_goes_back_and_catches_up(moves):
    """However often the wall clock is set; without that it is the wall clock, once that has passed the last time."""
    wall, seconds, said = NOW, 0.0, []
    clock = OrderedClock(lambda: wall, lambda: seconds, said.append)
    times = [clock()]
    for jump, elapsed in moves:
        wall, seconds = wall + jump + elapsed, seconds + elapsed
        times.append(clock())
    assert times == sorted(times)
    ahead = max(0.0, times[-1] - wall)
    wall, seconds = wall + 2 * ahead + 1, seconds + 2 * ahead + 1
    assert clock() == wall


def test_a_clock_that_is_set_back_is_reported_once_and_a_wrong_one_is_followed():
    wall, seconds, said = NOW, 0.0, []
    clock = OrderedClock(lambda: wall, lambda: seconds, said.append)
    clock()
    wall, seconds = wall - 3600, 10.0
    assert (clock(), clock()) == (NOW + 5, NOW + 5)
    wall -= 90_000
    assert clock() == wall
    assert said == [
        "the clock was set back by 3600 s: times go on at half the pace until it has caught up",
        "the clock was set back by 90000 s: it is followed",
    ]


def test_records_and_accounts_stay_in_order_when_the_clock_is_set_back_by_an_hour(tmp_path, monkeypatch):
    """Cycles go on, and what a user uses meanwhile is charged."""
    wall = [NOW]
    monkeypatch.setattr("negotiator.app.targets.time.time", lambda: wall[0])
    write_bundle(tmp_path / "bundle")
    (tmp_path / "pool.ads").write_text(USED)
    targets = CommandTargets(
        bundle=tmp_path / "bundle",
        pool=(tmp_path / "pool.ads",),
        state=tmp_path / "state",
        audit_log=tmp_path / "audit",
    )
    with open_runner(targets) as runner:
        seconds = itertools.count()
        runner.runtime.clock.monotonic = lambda: 100.0 * next(seconds)
        runner.runtime.next_cycle()
        wall[0] -= 3600
        runner.runtime.next_cycle()
        order = runner.runtime.bundle.ordering.name
        rows, _ = runner.runtime.store.order_rows(order)
    times = [each["time"] for each in records(tmp_path / "audit")]
    assert times == sorted(times)
    assert times[-1] > times[0]
    assert rows["account:ann@d"]["AccumulatedUsage"] == rows["clock"]["last_update"] - NOW > 0
