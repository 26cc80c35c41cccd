"""Several negotiators of one pool in one process, each with a state in the same PostgreSQL."""

from negotiator.bundle import load_bundle
from negotiator.hooks.state_location import DatabaseUrl, StateLocation
from negotiator.pool.reading import read_pool
from negotiator.runtime.cycle_pool import FilePool
from negotiator.runtime.peer_matches import register_negotiator
from negotiator.runtime.run import Runtime
from negotiator.runtime.state import StateStore

NAMES = ("north", "south")

_JOB = """\
MyType = "Job"
ClusterId = {0}
ProcId = 0
JobStatus = 1
Owner = "{1}"
User = "{1}@d"
RequestCpus = 1
GlobalJobId = "node1#{0}.0#1"
Requirements = true

"""
_SLOT = """\
MyType = "Machine"
Name = "{1}{0}@h"
Part = "{1}"
State = "{2}"
Cpus = 1
Requirements = true
{3}
"""
_USED = 'RemoteUser = "{0}@d"\nAccountingGroup = "{0}@d"\n'
_QUEUE = """\
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: default
            submitacl: "*"
            resources:
              max: {{vcore: {0}}}
    placementrules:
      - name: fixed
        value: root.default
"""


def job(number, user="ann"):
    """Return the ad of an idle job."""
    return _JOB.format(number, user)


def slot(number, part, user=""):
    """Return the ad of a slot of a negotiator, claimed by a user or free."""
    return _SLOT.format(number, part, "Claimed" if user else "Unclaimed", _USED.format(user) if user else "")


def one_queue(vcores):
    """Return a configuration with one queue of so many processors."""
    return _QUEUE.format(vcores)


def write_bundle(folder, name, files):
    """Write the bundle of a negotiator that has the slots of its own part of the pool."""
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "slots.conf").write_text(f'NEGOTIATOR_SLOT_CONSTRAINT = MY.Part == "{name}"\n')
    for file, text in files.items():
        (folder / name / file).write_text(text)


class Negotiator:
    """One of several negotiators, which reads the pool, calls ``meanwhile``, and decides."""

    def __init__(self, name, folder, url, files):
        write_bundle(folder, name, files)
        self.bundle, self.now = load_bundle(folder / name), 1000.0
        self.location = StateLocation(folder / f"{name}-state", DatabaseUrl(url), name)
        self.store = StateStore.open(self.location)
        assert self.store.hold_lock()
        self._pool = folder / "pool.ads"
        self.meanwhile = lambda: None
        self.begin()

    def begin(self):
        """Begin as a new process does, with what is stored."""
        self.runtime = Runtime(self.bundle, FilePool(self._read), self._clock, None, self.store)

    def register(self):
        """Let the others know the slots of this one, as ``negotiator serve`` does."""
        register_negotiator(self.store, self.bundle)

    def _clock(self):
        self.now += 1.0
        return self.now

    def _read(self):
        snapshot = read_pool([self._pool])
        self.meanwhile()
        return snapshot

    def cycle(self, meanwhile=lambda: None):
        """Run a cycle, and return its report."""
        self.meanwhile = meanwhile
        return self.runtime.next_cycle()

    def matches(self, meanwhile=lambda: None):
        """Run a cycle; return the jobs and slots that it hands out."""
        return [(match.job, match.slot) for match in self.cycle(meanwhile).result.matches]


def negotiators(folder, url, files):
    """Return the negotiators ``north`` and ``south``; their bundles have the same other files."""
    return {name: Negotiator(name, folder, url, files) for name in NAMES}
