"""The statistics of a cycle, as condor_negotiator counts them."""

import pytest

from fair_share import FAIR, jobs_of, run, submitter
from negotiator.cycle.cycle_time import RecordedTime, TimeStop
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleSpan, summarize
from negotiator.hooks.records import Cycle
from negotiator.hooks.turn_time import TimeLimit
from pools import NOW, slot, snapshot, write_bundle

IDLE = [slot(number, Cpus="1") for number in range(10)]
BUSY = slot(10, Cpus="1", State='"Claimed"', RemoteUser='"ann@d"', AccountingGroup='"ann@d"')


def pool(slots, **counts):
    jobs = [each for at, (name, count) in enumerate(counts.items()) for each in jobs_of(name, count, at + 1)]
    return snapshot(slots, jobs, submitters=[submitter(name, count) for name, count in counts.items()])


@pytest.fixture
def fair(tmp_path):
    return write_bundle(tmp_path / "fair", FAIR)


def statistics(result, span=None):
    return summarize(result, result.matches, {}, span).statistics


def test_spins_and_the_submitters_that_used_up_their_share_are_counted(fair):
    found = statistics(run(fair, pool(IDLE, ann=2, sue=20)))
    assert (found.pies, found.spins) == (1, 2)
    assert [name.split("@")[0] for name in found.share_limited] == ["sue"]


def test_slots_with_a_job_are_read_and_not_offered_where_no_job_is_preempted(tmp_path):
    bundle = write_bundle(tmp_path / "b", "order: names\n")
    found = statistics(run(bundle, pool([*IDLE, BUSY], ann=1)))
    assert (found.slots, found.offered_slots) == (11, 10)


def test_a_request_with_jobs_left_is_one_rejection(fair):
    assert statistics(run(fair, pool(IDLE, ann=20))).rejections == 1
    assert statistics(run(fair, pool(IDLE, ann=10))).rejections == 0


def test_submitters_and_schedds_without_time_are_named(fair):
    given = pool(IDLE, ann=2, sue=2)
    request = run(fair, given).outcomes[0].request
    schedd, submitter = request.schedd.lower(), request.submitter.lower()
    for stop, expected in (
        (TimeStop(TimeLimit.SUBMITTER, submitter, schedd, 1), ((submitter,), ())),
        (TimeStop(TimeLimit.SCHEDD, "", schedd, 1), ((), (schedd,))),
    ):
        result = run_cycle(given, fair, Cycle(1, NOW, fair.digest), time=RecordedTime([stop]))
        found = statistics(result)
        assert (found.submitters_out_of_time, found.schedds_out_of_time) == expected


def test_times_are_those_of_the_clocks_outside_the_cycle(fair):
    found = statistics(run(fair, pool(IDLE)), CycleSpan(5.0, 7.5, 0.25))
    assert (found.begun, found.ended, found.cpu_seconds) == (5.0, 7.5, 0.25)
