"""When running jobs end at the latest: only what their ads say."""

import pytest

from negotiator.cycle.cycle_state import CycleState
from negotiator.explain.first_end import first_end
from negotiator.explain.job import explain_alone
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot, write_bundle


def running(number, begun=-100, **changed):
    return job(number, JobStatus="2", ShadowBday=str(int(NOW) + begun), **changed)


def ends(*jobs):
    return first_end(snapshot(jobs=jobs).jobs, NOW)


@pytest.mark.parametrize(
    ("changed", "seconds"),
    [
        ({"AllowedJobDuration": "3600"}, 3500),
        ({"AllowedExecuteDuration": "3600", "JobCurrentStartExecutingDate": str(int(NOW) - 90)}, 3510),
        (
            {
                "AllowedJobDuration": "900",
                "AllowedExecuteDuration": "3600",
                "JobCurrentStartExecutingDate": str(int(NOW)),
            },
            800,
        ),
    ],
)
def test_the_shorter_of_both_durations_counts_from_its_own_begin(changed, seconds):
    found = ends(running(3, **changed))
    assert (found.job, found.time, found.stated, found.jobs) == ("1.3", NOW + seconds, 1, 1)


def test_a_checkpoint_that_was_copied_begins_the_execution_anew():
    own = {"AllowedExecuteDuration": "3600", "JobCurrentStartExecutingDate": str(int(NOW) - 90)}
    assert ends(running(0, **own, TransferOutFinished=str(int(NOW) - 10))).time == NOW + 3590
    assert ends(running(0, **own, TransferOutFinished=str(int(NOW) - 9000))).time == NOW + 3510


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"AllowedJobDuration": "50"},
        {"AllowedJobDuration": "1e300"},
        {"AllowedJobDuration": '"long"'},
        {"AllowedExecuteDuration": "9000", "JobCurrentStartExecutingDate": str(int(NOW) - 5000)},
        {"ShadowBday": None, "AllowedJobDuration": "3600"},
    ],
)
def test_nothing_is_said_without_a_duration_that_ends_in_the_future(changed):
    """The execution of an earlier run says nothing about this one."""
    ad = running(0, **changed) if "ShadowBday" not in changed else job(0, JobStatus="2", **changed)
    assert ends(ad) is None


def test_the_first_to_end_is_named_with_the_number_of_jobs_that_say_so():
    jobs = [running(number, AllowedJobDuration=str(1000 * (4 - number))) for number in range(3)]
    found = ends(*jobs, running(9))
    assert (found.job, found.stated, found.jobs) == ("1.2", 3, 4)


def test_a_job_waits_for_the_slots_that_only_their_use_keeps_from_it(tmp_path):
    """A slot that is too small does not count."""
    bundle = write_bundle(tmp_path / "b", "")
    slots = [
        slot(0, State='"Claimed"', RemoteUser='"u@d"', Memory="100"),
        slot(1, State='"Claimed"', RemoteUser='"u@d"'),
        slot(2, State='"Claimed"', RemoteUser='"u@d"'),
    ]
    jobs = [running(n, RemoteHost=f'"s{n}@h"', AllowedJobDuration=str(1000 * (n + 1))) for n in range(3)]
    pool = snapshot(slots, [*jobs, job(7, Requirements="TARGET.Memory > 1000")])
    found = explain_alone(pool, bundle, Cycle(1, NOW, bundle.digest), CycleState.new(bundle, NOW), 3)
    assert (found.first_end.job, found.first_end.time) == ("1.1", NOW + 1900)
    assert (found.first_end.stated, found.first_end.jobs) == (2, 2)
