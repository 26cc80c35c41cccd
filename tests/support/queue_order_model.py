"""A plain model of YuniKorn's order: one job at a time, everything sorted again before each. Slow and simple."""

import itertools

import attrs

LOWEST = -(2**31)


@attrs.define
class ModelJob:
    """A waiting job of 1 MiB; only its vcores make a large part of a queue's share."""

    queue: str
    cluster: int
    proc: int
    vcore: int
    priority: int = 0
    date: int = 0


@attrs.define
class ModelQueue:
    """A queue: its guarantee and maximum in vcores (None without one) and its properties."""

    path: str
    guaranteed: int | None = None
    max: int | None = None
    sort: str = "fifo"
    by_priority: bool = True
    fence: bool = False
    offset: int = 0
    preemption: str = "default"


def sequence(queues, jobs, capacity, count):
    """Return the first so many jobs in the order in which they get slots, on slots that are all alike."""
    waiting, done = list(jobs), []
    while waiting and len(done) < count:
        job = next_job(queues, waiting, done, capacity)
        waiting.remove(job)
        done.append(job)
    return done


def next_job(queues, waiting, done, capacity, offered=None):
    """Return the job that gets the next slot, of those ``offered``; None for all that wait."""
    offered = waiting if offered is None else offered
    path = "root"
    while True:
        children = {
            f"{path}.{job.queue[len(path) + 1 :].split('.')[0]}"
            for job in offered
            if job.queue.startswith(f"{path}.")
        }
        if not children:
            own = [job for job in offered if job.queue == path]
            return _first_job(queues[path], own, [*waiting, *done], done)
        path = min(children, key=lambda each: _queue_key(queues, path, each, waiting, done, capacity))


def _below(path, jobs):
    return [job for job in jobs if job.queue == path or job.queue.startswith(f"{path}.")]


def _queue_key(queues, parent, path, waiting, done, capacity):
    used = sum(job.vcore for job in _below(path, done))
    whole = queues[path].guaranteed or _fair_max(queues, path, capacity)
    share = used / whole
    priority = -_priority(queues, path, waiting)
    jobs_below = _below(path, waiting)
    demand = (-len(jobs_below), -sum(job.vcore for job in jobs_below))  # of memory and vcore
    first = (priority, share) if queues[parent].by_priority else (share, priority)
    return (*first, demand, path)


def _fair_max(queues, path, capacity):
    while path != "root":
        if queues[path].max is not None:
            return queues[path].max
        path = path.rpartition(".")[0]
    return capacity


def _priority(queues, path, waiting):
    own = [job.priority for job in waiting if job.queue == path]
    below = {
        f"{path}.{job.queue[len(path) + 1 :].split('.')[0]}"
        for job in waiting
        if job.queue.startswith(f"{path}.")
    }
    highest = max([LOWEST, *own, *(_priority(queues, each, waiting) for each in below)])
    if highest == LOWEST:
        return highest
    return queues[path].offset if queues[path].fence else highest + queues[path].offset


def _first_job(queue, jobs, known, done):
    def app_key(app):
        own = [job for job in jobs if job.cluster == app]
        priority = -max(job.priority for job in own)
        own = [job.vcore for job in done if job.cluster == app]
        shares = sorted([sum(own) / (queue.guaranteed or 1), len(own) * 2**20], reverse=True)
        by = shares if queue.sort == "fair" else (dates[app],)
        first = (priority, *by) if queue.by_priority else (*by, priority)
        return (*first, dates[app], app)

    everything = [job for job in known if job.queue == queue.path]
    dates = {
        app: min(job.date for job in own)
        for app, own in itertools.groupby(
            sorted(everything, key=lambda job: job.cluster), lambda job: job.cluster
        )
        for own in [list(own)]
    }
    app = min({job.cluster for job in jobs}, key=app_key)
    own = [job for job in jobs if job.cluster == app]
    return min(own, key=lambda job: (-job.priority, job.date, job.proc))
