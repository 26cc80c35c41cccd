"""How many jobs of each user in each queue are in use when a cycle begins, for reports."""

from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot, write_bundle


def test_running_jobs_are_counted_by_user_and_queue_also_on_slots_that_the_pool_does_not_show(tmp_path):
    bundle = write_bundle(tmp_path / "b")
    owners = ["ada", "ada", "bob", "ada"]
    running = [
        job(n, ClusterId=str(n), Owner=f'"{name}"', User=f'"{name}@d"', JobStatus="2", RemoteHost=f'"s{n}@h"')
        for n, name in enumerate(owners)
    ]
    idle = job(9, ClusterId="9")
    result = run_cycle(snapshot([slot(7)], [*running, idle]), bundle, Cycle(1, NOW, bundle.digest))
    found = {(each.user, each.queue): each.jobs for each in result.in_use}
    assert found == {("ada", "root.default"): 3, ("bob", "root.default"): 1}
    assert len(result.matches) == 1
