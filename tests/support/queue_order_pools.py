"""Pools and bundles of the order ``queues``, for tests: the jobs and queues of the plain model as ads and queues.yaml."""

from negotiator.bundle import load_bundle
from negotiator.classad import parse_old
from pools import job, slot
from queue_order_model import ModelJob, ModelQueue

#: Two queues with guarantees, of two jobs and of one.
QUEUES = {
    "root": ModelQueue("root"),
    "root.a": ModelQueue("root.a", guaranteed=2000),
    "root.b": ModelQueue("root.b", guaranteed=1000),
}


def written(queues, path="root"):
    """Return a queue and those below it as queues.yaml writes them."""
    queue = queues[path]
    resources = {
        key: {"vcore": f"{amount}m"}
        for key, amount in (("guaranteed", queue.guaranteed), ("max", queue.max))
        if amount is not None
    }
    properties = {
        "application.sort.policy": queue.sort,
        "application.sort.priority": "enabled" if queue.by_priority else "disabled",
        "priority.policy": "fence" if queue.fence else "default",
        "priority.offset": str(queue.offset),
        "preemption.policy": queue.preemption,
    }
    children = [each for each in queues if each.rpartition(".")[0] == path]
    found = {"name": path.rpartition(".")[2], "properties": properties}
    if resources:
        found["resources"] = resources
    if path == "root":
        found["submitacl"] = "*"
    if children:
        found["queues"] = [written(queues, each) for each in children]
    return found


def bundle_of(folder, queues, pool="order: queues\nqueue_turns: exact\n", **more):
    """Return a bundle with these queues, by path, and further keys of the partition."""
    folder.mkdir(parents=True, exist_ok=True)
    partition = {
        "name": "default",
        "placementrules": [{"name": "provided"}],
        "queues": [written(queues)],
        **more,
    }
    (folder / "queues.yaml").write_text(str({"partitions": [partition]}))
    (folder / "pool.yaml").write_text(pool)
    return load_bundle(folder)


def waiting(jobs):
    """Return the ads of jobs."""
    return [
        job(
            each.proc,
            ClusterId=str(each.cluster),
            Queue=f'"{each.queue}"',
            RequestCpus=repr(each.vcore / 1000),
            RequestMemory="1",
            JobPrio=str(each.priority),
            QDate=str(each.date),
            Rank=str(each.cluster),  # so that jobs of two clusters are two requests
        )
        for each in jobs
    ]


def machines(count):
    return [slot(number, Machine=f'"m{number}"', Cpus="4", Memory="100") for number in range(count)]


def served(result):
    """Return the jobs in the order in which they got their slots."""
    return [match.job for match in sorted(result.matches, key=lambda match: int(match.id.split(".")[1]))]


def occupied(runs):
    """Return the slots of running jobs of the preemption model, and the ads of the jobs."""
    slots, jobs = [], []
    for each in runs:
        ids = {"GlobalJobId": f'"h#{each.cluster}.0#1"'}
        user = {"RemoteUser": '"bob@d"', "RemoteOwner": '"bob@d"', "JobId": f'"{each.cluster}.0"'}
        name = f'"m{each.slot}"'
        slots.append(
            slot(
                each.slot,
                Machine=name,
                State='"Claimed"',
                Memory="100",
                JobStart=str(each.started),
                **user,
                **ids,
            )
        )
        jobs.append(
            job(
                *(0,),
                ClusterId=str(each.cluster),
                Queue=f'"{each.queue}"',
                JobStatus="2",
                Owner='"bob"',
                User='"bob@d"',
                RequestCpus=repr(each.vcore / 1000),
                RequestMemory="1",
                JobPrio=str(each.priority),
                RemoteHost=f'"s{each.slot}@h"',
                **ids,
            )
        )
    return slots, jobs


def running(queue, count, cluster=90, **of_slot):
    """Return running jobs of one core in a queue, and their slots; the last began last."""
    jobs, slots = [], []
    for number in range(count):
        ids = {"GlobalJobId": f'"h#{cluster}.{number}#1"'}
        name = f'"r{cluster}.{number}@h"'
        jobs.append(
            job(
                *(number,), ClusterId=str(cluster), Queue=f'"{queue}"', JobStatus="2", Owner='"bob"', User='"bob@d"',
                RequestCpus="1", RequestMemory="1", RemoteHost=name, **ids,
            )
        )  # fmt: skip
        slots.append(
            slot(
                *(number,), Name=name, Machine=name, RemoteUser='"bob@d"', RemoteOwner='"bob@d"',
                JobId=f'"{cluster}.{number}"', JobStart=str(1000 + number), **({"State": '"Claimed"'} | ids | of_slot),
            )
        )  # fmt: skip
    return jobs, slots


def asking(count=1, queue="root.a", cluster=1, **more):
    """Return waiting jobs of one core; of attributes None removes one."""
    ads = waiting([ModelJob(queue, cluster, proc, 1000, date=5) for proc in range(count)])
    return [changed(each, **more) for each in ads]


def changed(each, **more):
    return each.replaced({name: None if text is None else parse_old(text) for name, text in more.items()})
