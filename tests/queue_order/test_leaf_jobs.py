"""The order of the jobs of a leaf: the tables of YuniKorn's own tests of application sorting, as facts."""

import numpy as np
import pytest

from negotiator.classad import Table
from negotiator.plugin import Ad, QueuedRequest, QueueSettings, Request, SortPolicy
from negotiator_queue_order.leaf_jobs import JobColumns, LeafJobs
from pools import ad


def leaf(apps, sort="fifo", *, by_priority=False, guaranteed=None, used=None, jobs=1):
    """Return the jobs of applications: (submitted, priority) each; every job requests 100 thousandths of a core."""
    table = Table.from_ads(
        [
            ad(ClusterId=str(number), ProcId=str(proc), QDate=str(submitted), JobPrio=str(priority))
            for number, (submitted, priority) in enumerate(apps)
            for proc in range(jobs)
        ]
    )
    requests = []
    for number in range(len(apps)):
        rows = np.arange(number * jobs, (number + 1) * jobs)
        request = Request(
            "sue",
            "s",
            Ad(),
            jobs,
            f"{number}.0",
            resources={"vcore": 100},
            applications=(f"s#{number}",) * jobs,
        )
        requests.append(QueuedRequest(number, request, rows, jobs, rows))
    properties = QueueSettings(sort=SortPolicy(sort), by_priority=by_priority)
    sizes = {each.number: each.request.resources for each in requests}
    amounts = {f"s#{number}": {"vcore": amount} for number, amount in enumerate(used or ())}
    return LeafJobs.of(requests, JobColumns.of(table), properties, guaranteed or {}, sizes, amounts)


def order(found):
    return found.application[found.left].tolist()


def test_fifo_goes_by_submission_time_then_by_priority():
    assert order(leaf([(0, 0), (1, 0), (2, 0), (3, 0)])) == [0, 1, 2, 3]
    assert order(leaf([(3, 0), (2, 0), (1, 0), (0, 0)])) == [3, 2, 1, 0]
    assert order(leaf([(0, 0), (3, 3), (3, 0), (3, 5)])) == [0, 3, 1, 2]


def test_priority_goes_before_submission_time_where_it_is_enabled():
    assert order(leaf([(0, 0), (1, 5), (2, 0), (3, 4)], by_priority=True)) == [1, 3, 0, 2]


@pytest.mark.parametrize("guaranteed", [{}, {"vcore": 0}, {"vcore": 500}])
@pytest.mark.parametrize(
    ("by_priority", "used", "priorities", "wanted"),
    [
        (False, (100, 200, 300, 400), (0, 0, 0, 0), [0, 1, 2, 3]),
        (False, (100, 1000, 300, 400), (0, 0, 0, 0), [0, 2, 3, 1]),
        (False, (100, 1000, 300, 1000), (0, 2, 0, 3), [0, 2, 3, 1]),
        (True, (100, 200, 300, 400), (0, 5, 0, 0), [1, 0, 2, 3]),
        (True, (100, 200, 1000, 400), (0, 5, 0, 0), [1, 0, 3, 2]),
    ],
)
def test_fair_goes_by_usage_and_priority(guaranteed, by_priority, used, priorities, wanted):
    apps = [(0, priority) for priority in priorities]
    assert order(leaf(apps, "fair", by_priority=by_priority, guaranteed=guaranteed, used=used)) == wanted


def test_fair_applications_take_turns_from_where_their_usage_is():
    found = leaf([(0, 0), (1, 0)], "fair", used=(200, 0), jobs=3)
    assert order(found) == [1, 1, 0, 1, 0, 0]


def test_a_refused_request_does_not_count_for_its_application():
    found = leaf([(0, 0), (1, 0)], "fair", jobs=2)
    assert order(found) == [0, 1, 0, 1]
    found.refused(found.of_request(0))
    assert order(found) == [1, 1]
    assert found.highest == 0  # it still waits, as in YuniKorn


def test_the_highest_priority_is_that_of_the_jobs_without_a_slot():
    found = leaf([(0, 4), (1, 7)], by_priority=True)
    assert found.highest == 7
    found.served(found.left[:1])
    assert found.highest == 4
    found.served(found.left)
    assert found.highest == -(2**31)
