"""Cycles whose time passes as a test says: a plugin advances the clock while a request is matched."""

from negotiator.bundle import load_bundle
from negotiator.cycle.cycle_time import MeasuredTime
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle, hookimpl
from pools import NOW, job


class SlowMatching:
    """A plugin and a clock: matching a request takes as many seconds as ``takes`` returns for it."""

    def __init__(self, takes=lambda _request: 0.0):
        self.now, self.takes = 0.0, takes

    def seconds(self):
        """Return the seconds since the cycle began."""
        return self.now

    @hookimpl
    def negotiator_job_attributes(self):
        """Read nothing of jobs."""
        return []

    @hookimpl
    def negotiator_filter_slots(self, request):
        """Advance the clock at each turn: the answer is for no other request, as the plugin reads which jobs these are."""
        assert request.first_job
        self.now += self.takes(request)
        return []


def requests_of(name, count, schedd="h"):
    """Return jobs of a submitter that are so many requests."""
    own = {"Owner": f'"{name}"', "User": f'"{name}@d"', "ClusterId": "7"}
    return [
        job(
            number, GlobalJobId=f'"{schedd}#7.{number}#1"', Requirements=f"TARGET.Cpus > -{number + 1}", **own
        )
        for number in range(count)
    ]


def load(folder, clock):
    """Return the bundle in a folder, with the plugin."""
    return load_bundle(folder, extra_plugins={"slow_matching": clock})


def timed(bundle, pool, clock, *, number=1, is_stopped=lambda: False, **options):
    """Run a cycle by the clock; return its result."""
    clock.now = 0.0
    time = MeasuredTime(bundle.time_limits, clock.seconds, is_stopped)
    return run_cycle(pool, bundle, Cycle(number, NOW, bundle.digest), time=time, **options)
