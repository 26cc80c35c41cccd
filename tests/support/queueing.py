"""Bundles with queues, jobs for them, and a negotiator to run, for tests of placement and of the runtime."""

import json
import os
import pwd
from contextlib import contextmanager

import attrs

from negotiator.audit.log import AuditLog
from negotiator.bundle import load_bundle
from negotiator.hooks.state_location import StateLocation
from negotiator.pool import ClaimVault
from negotiator.pool.vault import Secret
from negotiator.queues import ROOT
from negotiator.runtime.consistency import check_consistency
from negotiator.runtime.cycle_pool import FilePool
from negotiator.runtime.journal_clock import Uptime
from negotiator.runtime.run import Runtime
from negotiator.runtime.state import AdminRequest, StateStore
from pools import NOW, job, snapshot, write_bundle

ME = pwd.getpwuid(os.geteuid()).pw_name
"""The owner of the process, an administrator of the scheduler."""

QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: one, adminacl: "head"}
          - {name: two, adminacl: "deputy"}
          - {name: above, parent: true}
    placementrules:
      - {name: provided, create: true}
      - {name: fixed, value: root.one}
"""
"""A requested queue is used, and created if it is missing; everything else is placed in root.one."""

LIMITED = """
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits: [ROOT]
        queues:
          - {name: one, limits: [ONE], MORE}
          - {name: two}
    placementrules:
      - {name: provided, create: true}
      - {name: fixed, value: root.one}
"""
"""A template: limits of the root, limits of root.one, and further settings of root.one."""


def limited(root="", one="", more=""):
    """Return a queue configuration with limits, each as an item of a YAML list."""
    return LIMITED.replace("ROOT", root).replace("ONE", one).replace("MORE", more)


def write(folder, queues=QUEUES, pool="scheduleracl: boss\n"):
    """Write the files of a bundle."""
    folder.mkdir(exist_ok=True)
    (folder / "queues.yaml").write_text(queues)
    (folder / "pool.yaml").write_text(pool)
    return folder


def bundle(folder, queues=QUEUES, pool="scheduleracl: boss\n", plugins=None):
    """Load a bundle with these queues."""
    if plugins:
        write_bundle(folder, plugins=plugins)
        pool += (folder / "pool.yaml").read_text()
    return load_bundle(write(folder, queues, pool))


@contextmanager
def changed_queues(holder):
    """Yield the queues of a state manager or cycle state as a tree to change; store the changed ones afterwards."""
    queues = holder.queues.mutable()
    yield queues
    holder.queues = queues.view


def drain(queues, path, now):
    """Remove a queue, with its children, from the configuration of a tree."""
    return queues.apply(_without(queues.view.get(ROOT).config, path.lower()), now)


def _without(config, path):
    children = tuple(_without(child, path) for child in config.children if child.path != path)
    return attrs.evolve(config, children=children)


def app(cluster=1, proc=0, user="tester", queue=None, schedd="node1", **more):
    """Return a job of an application."""
    own = {"ClusterId": str(cluster), "Owner": f'"{user}"', "User": f'"{user}@d"'}
    if schedd:
        own["GlobalJobId"] = f'"{schedd}#{cluster}.{proc}#1"'
    return job(proc, **(own | {"Queue": queue and f'"{queue}"'} | more))


def records(folder, *kinds):
    """Return the records of an audit log, of these kinds."""
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [record for record in map(json.loads, lines) if not kinds or record["kind"] in kinds]


class SettledPool(FilePool):
    """A pool of files; ``settler``, an object with the method ``settle(result, vault)``, hands out its matches."""

    settler = None

    def __init__(self, reader, vault=ClaimVault, settler=None):
        super().__init__(reader)
        self.vault, self.settler = vault, settler

    def read(self):
        """Return the pool and its claim ids."""
        return self.reader(), self.vault()

    def settle(self, result, vault, shown):
        """Let the settler hand out the matches; without one they are printed."""
        if self.settler is None:
            return super().settle(result, vault, shown)
        return self.settler.settle(result, vault)


def printed(*_):
    """Show the decisions of a cycle; its matches count as printed."""
    return True


class World:
    """A negotiator to start and stop; ``slots`` and ``jobs`` are its pool, ``now`` its time.

    Its state is in its folder, or in a ``database``, which worlds may share.
    """

    def __init__(self, folder, chosen=None, database=None):
        self.folder, self.now, self.slots, self.jobs = folder, NOW, [], []
        self.database = database
        self.claims = {}  # the claim id of each slot, or a list of them, by the slot's name
        self.bundle = chosen or bundle(folder / "bundle")
        self.reloader = self.run = self.log = self.store = None
        self.uptime, self.boot = None, "first"  # without an uptime, that of a right wall clock

    def start(self):
        """Start, or start again after ``stop``."""
        self.log = AuditLog.open(self.folder / "audit", rotate_bytes=1 << 30)
        self.store = StateStore.open(StateLocation(self.folder / "state", self.database))
        assert self.store.hold_lock()
        check_consistency(self.store, self.log)
        pool = SettledPool(lambda: snapshot(self.slots, self.jobs), self._vault)
        clock = lambda: self.now  # noqa: E731
        self.run = Runtime(self.bundle, pool, clock, self.log, self.store, self.reloader, show=printed)
        self.run.uptime = lambda: Uptime(self.now if self.uptime is None else self.uptime, self.boot)
        return self

    def _vault(self):
        vault = ClaimVault()
        for slot, claims in self.claims.items():
            vault.put(slot, "<1>", map(Secret, [claims] if isinstance(claims, str) else claims))
        return vault

    def stop(self):
        """Stop like a process that is killed between two cycles."""
        if self.store:
            self.store.close()
            self.log.close()
        self.store = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def cycle(self):
        """Run one cycle; return its result."""
        return self.run.next_cycle().result

    def ask(self, kind, application="", queue="", by=ME, groups=(), note=""):
        """Request an action of an administrator; return the answer."""
        number = self.store.request(AdminRequest(0, self.now, by, groups, kind, application, queue, note))
        self.run.between_cycles()
        return self.store.answered(number)

    def where(self):
        """Return the queue of each application."""
        return {str(each.id): each.queue for each in self.run.state_manager.registry}

    def records(self, *kinds):
        """The records of the audit log, of these kinds."""
        return records(self.folder / "audit", *kinds)
