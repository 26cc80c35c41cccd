"""A plain model of preemption between queues: one job at a time, all running jobs examined again before each."""

import attrs

from queue_order_model import ModelJob, next_job

MOST = 10  # jobs that are ended for one queue


@attrs.define
class RunningModelJob(ModelJob):
    """A running job, the number of its slot, and the time of its start."""

    slot: int = 0
    started: int = 0


def endings(queues, waiting, running, capacity):
    """Return the waiting jobs that get slots, each with the running job that is ended for it; no slot is free."""
    waiting, running, offered = list(waiting), list(running), list(waiting)
    done, ended, started = [], [], []
    while offered:
        job = next_job(queues, waiting, [*running, *done], capacity, offered)
        victims = [each for each in running if lead(queues, job, each, [*running, *done]) is not None]
        if not victims:
            alike = [each for each in offered if (each.cluster, each.vcore) == (job.cluster, job.vcore)]
            highest = max(each.priority for each in alike)
            offered = [
                each for each in offered if each not in alike or job.priority < each.priority == highest
            ]
            continue
        victim = min(
            victims,
            key=lambda each: (
                -lead(queues, job, each, [*running, *done]),
                -each.started,
                each.vcore,
                each.slot,
            ),
        )
        running.remove(victim)
        waiting.remove(job)
        offered.remove(job)
        done.append(job)
        ended.append((job, victim))
        started.append(job.queue)
        if started.count(job.queue) == MOST:
            offered = [each for each in offered if each.queue != job.queue]
    return ended


def lead(queues, job, victim, using):
    """Return by how much the priority of a job is above that of a running job; None if it may not be ended."""
    above, below = split(job.queue, victim.queue)
    if not above or not below or queues[victim.queue].preemption == "disabled":
        return None
    if any(queues[path].preemption == "fence" for path in above):
        return None
    guaranteed = [path for path in above if queues[path].guaranteed is not None]
    if not guaranteed:
        return None
    if any(used(path, using) + job.vcore > queues[path].guaranteed for path in guaranteed):
        return None
    for path in below:
        if queues[path].guaranteed is not None and (
            used(path, using) - victim.vcore < queues[path].guaranteed
        ):
            return None
    difference = seen(queues, above, job.priority) - seen(queues, below, victim.priority)
    return difference if difference >= 0 else None


def split(one, other):
    """Return the queues above two queues that are not above both, from the bottom, themselves included."""
    lines = [
        [".".join(path.split(".")[:n]) for n in range(len(path.split(".")), 0, -1)] for path in (one, other)
    ]
    return tuple(
        [path for path in line if path not in lines[1 - number]] for number, line in enumerate(lines)
    )


def used(path, jobs):
    """Return the vcores of the jobs in a queue and below it."""
    return sum(job.vcore for job in jobs if job.queue == path or job.queue.startswith(f"{path}."))


def seen(queues, line, priority):
    """Return a job's priority as the queue above these compares it."""
    for path in line:
        priority = queues[path].offset if queues[path].fence else priority + queues[path].offset
    return priority
