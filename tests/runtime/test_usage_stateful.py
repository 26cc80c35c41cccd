"""Any history of a pool: the ledger of each cycle equals the counts of a naive model."""

import shutil
import tempfile
from pathlib import Path

import attrs
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

import queueing
from negotiator.hooks.delivery import Delivery, DeliveryStatus
from pools import slot, used
from queueing import World, app, limited

DELIVERED, FAILED = DeliveryStatus.DELIVERED, DeliveryStatus.FAILED
USERS = ("sue", "tester")
TIMEOUT = 600
LIMITS = (None, 3, 6)  # cores of each user


def configuration(most):
    """Return queues in which each user may use so many cores."""
    return limited(f"{{limit: l, users: ['*'], maxresources: {{vcore: {most}}}}}" if most else "")


@attrs.define(eq=False)
class Job:
    """A job of the model."""

    user: str
    cluster: int
    proc: int
    cores: int
    slot: str = ""
    handed: float | None = None  # when it was handed out, if nobody has seen it since

    @property
    def id(self):
        return f"{self.cluster}.{self.proc}"

    def ad(self):
        """Return the ad of the job in the pool."""
        more = {"JobStatus": "2", "RemoteHost": f'"{self.slot}"'} if self.slot else {}
        return app(self.cluster, self.proc, self.user, RequestCpus=str(self.cores), RequestMemory="1", **more)


@attrs.define
class FailingAtPlaces:
    """A settler that fails for the matches at some places."""

    fails: frozenset[int]

    def settle(self, result, _vault):
        return [
            Delivery(match, FAILED if number in self.fails else DELIVERED, "no answer")
            for number, match in enumerate(result.matches)
        ]


class PoolHistory(RuleBasedStateMachine):
    """Jobs are submitted, matched, run, lost and ended; limits change; processes restart."""

    def __init__(self):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.bundles = {
            most: queueing.bundle(self.folder / f"bundle{most}", configuration(most)) for most in LIMITS
        }
        self.most, self.clusters = 6, 0
        self.waiting, self.pending, self.running = [], [], []
        self.world = World(self.folder, self.bundles[6])
        self.world.slots = [slot(number) for number in range(40)]
        self.world.start()

    def teardown(self):
        self.world.stop()
        shutil.rmtree(self.folder)

    def count(self, user):
        """Return the cores that a user uses."""
        return sum(job.cores for job in (*self.pending, *self.running) if job.user == user)

    @rule(user=st.sampled_from(USERS), cores=st.integers(1, 3), count=st.integers(1, 4))
    def submit(self, user, cores, count):
        """Add jobs of a new application."""
        self.clusters += 1
        self.waiting += [Job(user, self.clusters, proc, cores) for proc in range(count)]

    @rule(fails=st.frozensets(st.integers(0, 3)))
    def cycle(self, fails):
        """Run a cycle: matched jobs fit, unmatched ones do not, and the ledger equals the model."""
        world = self.world
        self.pending = [job for job in self.pending if job.handed >= world.now - TIMEOUT]
        before = {user: self.count(user) for user in USERS}
        world.jobs = [job.ad() for job in (*self.waiting, *self.running)]
        world.run.pool.settler = FailingAtPlaces(fails)
        result = world.cycle()
        found = {match.job: match.slot for match in result.matches}
        matched = [job for job in self.waiting if job.id in found]
        counted = used(result)
        for user in USERS:
            more = sum(job.cores for job in matched if job.user == user)
            assert counted.get(f"limits.user.{user}.root.vcore", 0) == 1000 * (before[user] + more)
            left = self.most - before[user] - more if self.most else 99
            assert not more or left >= 0
            assert not [
                job for job in self.waiting if job.user == user and job.id not in found and job.cores <= left
            ]
        delivered = {match.job for number, match in enumerate(result.matches) if number not in fails}
        gone = [job for job in matched if job.id in delivered]
        for job in gone:
            job.handed = world.now
            self.waiting.remove(job)
            self.pending.append(job)

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def show(self, data):
        """Let a delivered job run on any slot; the negotiator sees it at the next cycle."""
        job = data.draw(st.sampled_from(self.pending))
        self.pending.remove(job)
        job.slot = f"s{data.draw(st.integers(0, 45))}@h"
        self.running.append(job)
        self.cycle(frozenset())

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def end(self, data):
        """End a job."""
        self.running.remove(data.draw(st.sampled_from(self.running)))

    @rule(seconds=st.sampled_from([1, 300, TIMEOUT, TIMEOUT + 1]))
    def wait(self, seconds):
        """Advance the time."""
        self.world.now += seconds

    @rule(most=st.sampled_from(LIMITS))
    def reload(self, most):
        """Change the limits, perhaps to less than the usage."""
        self.most = most
        self.world.bundle = self.world.run.bundle = self.bundles[most]
        self.world.run.state_manager.use_bundle(self.bundles[most], self.world.now)

    @rule()
    def restart(self):
        """Replace the process by another one."""
        self.world.stop()
        self.world.start()


TestCourse = PoolHistory.TestCase
TestCourse.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
