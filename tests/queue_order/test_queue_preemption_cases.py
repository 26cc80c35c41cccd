"""The examples of preemption in YuniKorn's user guide, with a slot for each running job.

Source: YuniKorn's documentation, "Preemption". Its example without guaranteed resources is of an early version: since
YUNIKORN-1951 a queue without any ends no jobs.
"""

from collections import Counter

import pytest

from pools import cycle, slot, snapshot
from queue_order_model import ModelJob, ModelQueue
from queue_order_pools import bundle_of, occupied, waiting
from queue_preemption_model import RunningModelJob


def queues(*rows):
    """Return queues by path: path, guarantee and maximum in cores, and further fields."""
    found = {"root": ModelQueue("root")}
    for path, guaranteed, most, more in rows:
        sizes = [None if cores is None else cores * 1000 for cores in (guaranteed, most)]
        found[f"root.{path}"] = ModelQueue(f"root.{path}", *sizes, **more)
    return found


FENCE = {"preemption": "fence"}
NORMAL = queues(("p", None, 12, {}), ("p.q1", 5, 10, {}), ("p.q2", 5, 10, {}))
UNGUARANTEED = queues(("p", None, 12, {}), ("p.q1", None, 10, {}), ("p.q2", None, 10, {}))
PRIORITIES = queues(
    ("p", None, 18, {}),
    ("p.high", 6, 10, {"offset": 100}),
    ("p.normal", 6, 18, {}),
    ("p.low", 6, 10, {"offset": -100}),
)
TENANTS = queues(
    ("f", None, None, FENCE),
    ("f.a", 5, 15, FENCE),
    ("f.a.q1", 2, 15, {}),
    ("f.a.q2", 2, 15, FENCE),
    ("f.b", 10, 15, FENCE),
    ("f.b.q3", 10, 15, {}),
    ("f.system", 10, 15, {}),
)


@pytest.mark.parametrize(
    ("tree", "cores", "running", "waits", "after"),
    [
        (NORMAL, 1, {"p.q1": 10, "p.q2": 2}, {"p.q2": 8}, {"p.q1": 7, "p.q2": 5}),
        (UNGUARANTEED, 1, {"p.q1": 10, "p.q2": 2}, {"p.q2": 8}, {"p.q1": 10, "p.q2": 2}),
        (PRIORITIES, 3, {"p.normal": 6}, {"p.high": 5, "p.low": 5}, {"p.high": 2, "p.normal": 4}),
        (TENANTS, 1, {"f.a.q1": 15}, {"f.a.q2": 15}, {"f.a.q1": 15}),
        (
            TENANTS,
            1,
            {"f.a.q1": 15, "f.b.q3": 15},
            {"f.system": 15},
            {"f.a.q1": 10, "f.b.q3": 10, "f.system": 10},
        ),
    ],
    ids=["general", "no guarantee", "priorities", "inside a fence", "into fences"],
)
def test_queues_have_as_many_jobs_as_in_the_example(tmp_path, tree, cores, running, waits, after):
    """Jobs of two queues were started in turn; free slots are of no use where the queue above is at its maximum."""
    paths = sorted((number, path) for path, count in running.items() for number in range(count))
    runs = [
        RunningModelJob(f"root.{path}", 100 + place, 0, cores * 1000, slot=place, started=1 + number)
        for place, (number, path) in enumerate(paths)
    ]
    jobs = [
        ModelJob(f"root.{path}", cluster, proc, cores * 1000, date=1)
        for cluster, (path, count) in enumerate(waits.items(), 1)
        for proc in range(count)
    ]
    slots, ads = occupied(runs)
    free = [] if tree is TENANTS else [slot(900 + number) for number in range(2)]
    result = cycle(snapshot([*slots, *free], [*ads, *waiting(jobs)]), bundle_of(tmp_path / "b", tree))
    found = Counter(running)
    found.update(match.queue.removeprefix("root.") for match in result.matches)
    found.subtract(match.preempts.queue.removeprefix("root.") for match in result.matches)
    assert +found == after
