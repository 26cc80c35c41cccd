"""Python's garbage collector while cycles run: rarely within a cycle, wholly between two, and as before afterwards."""

import gc
import weakref

import pytest

import pools
from negotiator import pool
from negotiator.app.pool_view import read_paths
from negotiator.app.runner import open_runner
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.collector import (
    NEW_OBJECTS,
    collect_unreachable,
    exempt_reachable,
    rare_collections,
)

POOL = """
MyType = "Machine"
Name = "slot1@host"
Requirements = true

MyType = "Job"
ClusterId = 1
ProcId = 0
Owner = "ann"
User = "ann@here"
JobStatus = 1
Requirements = true
"""
CYCLIC = """
import pathlib
from negotiator.plugin import hookimpl

class Node:
    alive = 0

    def __init__(self):
        self.myself = self
        Node.alive += 1

    def __del__(self):
        Node.alive -= 1

@hookimpl
def negotiator_cycle_ended(summary):
    Node()
    with pathlib.Path({path!r}).open("a") as out:
        print(Node.alive, file=out)
"""


class Observer:
    """Sees the thresholds in each cycle, and which snapshots of earlier cycles are still in memory then."""

    def notice(self, _text):
        """Ignore notices."""

    def __init__(self, pool):
        self.pool = pool
        self.thresholds, self.alive, self.snapshots, self.exempt = [], [], [], []

    def problems(self, problems):
        pass

    def progress(self, progress):
        pass

    def decisions(self, *_):
        self.thresholds.append(gc.get_threshold())
        self.exempt.append(gc.get_freeze_count() > 0)
        self.alive.append(sum(each() is not None for each in self.snapshots))
        return True

    def cycle(self, report):
        self.snapshots.append(weakref.ref(report.snapshot.slots))
        self.pool.write_text(POOL + "\n" * len(self.snapshots))  # an unchanged pool is used again


@pytest.fixture
def thresholds():
    """The thresholds before the test, which are those after it too."""
    before = gc.get_threshold()
    yield before
    gc.enable()
    gc.set_threshold(*before)


@pytest.fixture
def run(tmp_path):
    """Return a function that runs cycles with a plugin that makes an object in a reference cycle in each."""
    pools.write_bundle(tmp_path / "bundle", plugins={"cyclic": CYCLIC.format(path=str(tmp_path / "alive"))})
    (tmp_path / "pool.ads").write_text(POOL)

    def run(count):
        observer = Observer(tmp_path / "pool.ads")
        targets = CommandTargets(bundle=tmp_path / "bundle", pool=(observer.pool,))
        with open_runner(targets, audit=False) as runner:
            runner.run(observer, count=count)
        return observer

    return run


def test_collections_are_rare_while_cycles_run_and_as_before_afterwards(run, thresholds):
    young, *older = thresholds
    assert young < NEW_OBJECTS
    assert run(2).thresholds == [(NEW_OBJECTS, *older)] * 2
    assert gc.get_threshold() == thresholds


def test_reference_cycles_of_a_cycle_are_freed_before_the_next(run, tmp_path):
    run(4)
    assert (tmp_path / "alive").read_text().split() == ["1"] * 4


def test_what_the_first_cycle_loaded_is_traversed_no_more_until_the_last_has_ended(run):
    gc.unfreeze()  # what a test before left out of collections
    assert run(3).exempt == [False, True, True]
    assert gc.get_freeze_count() == 0
    assert run(1).exempt == [False]


def test_the_pool_of_a_cycle_is_freed_before_the_next_is_read(run):
    assert run(3).alive == [0, 0, 0]


def test_the_thresholds_of_the_caller_are_restored_after_an_exception(thresholds):
    with pytest.raises(KeyError), rare_collections():
        raise KeyError
    assert gc.get_threshold() == thresholds


@pytest.mark.usefixtures("thresholds")
def test_collections_that_are_rarer_already_stay_so():
    gc.set_threshold(10 * NEW_OBJECTS)
    with rare_collections():
        assert gc.get_threshold()[0] == 10 * NEW_OBJECTS


@pytest.mark.usefixtures("thresholds")
@pytest.mark.parametrize("off", [gc.disable, lambda: gc.set_threshold(0)])
def test_a_collector_that_the_caller_switched_off_stays_off(off):
    off()
    cyclic = type("Cyclic", (), {})()
    cyclic.myself, gone = cyclic, weakref.ref(cyclic)
    del cyclic
    with rare_collections():
        assert not gc.isenabled() or gc.get_threshold()[0] == 0
        collect_unreachable()
    assert gone() is not None


@pytest.mark.usefixtures("thresholds")
def test_collections_are_rare_while_a_pool_is_read(monkeypatch, tmp_path):
    """Also where no cycle runs: a pool of a million ads is read in little more than half the time."""
    seen = []
    read = pool.read_pool
    monkeypatch.setattr(pool, "read_pool", lambda *given: seen.append(gc.get_threshold()[0]) or read(*given))
    (tmp_path / "pool.ads").write_text(POOL)
    read_paths([tmp_path])
    assert seen == [NEW_OBJECTS]


@pytest.mark.usefixtures("thresholds")
def test_what_was_exempt_before_stays_exempt():
    """A command that reads a pool within a process that holds another one."""
    gc.freeze()
    before = gc.get_freeze_count()
    with rare_collections():
        pass
    assert gc.get_freeze_count() == before > 0
    gc.unfreeze()


class Cyclic:
    """An object that only the collector frees."""

    def __init__(self):
        self.myself = self


@pytest.fixture
def thawed():
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("thawed")
def test_what_is_reachable_is_left_out_of_collections_until_the_next_call():
    kept, lost = Cyclic(), Cyclic()
    kept_alive, lost_alive = weakref.ref(kept), weakref.ref(lost)
    del lost
    exempt_reachable()
    assert lost_alive() is None
    del kept
    gc.collect()
    assert kept_alive() is not None
    exempt_reachable()
    assert kept_alive() is None


@pytest.mark.usefixtures("thresholds", "thawed")
@pytest.mark.parametrize("off", [gc.disable, lambda: gc.set_threshold(0)])
def test_with_a_collector_that_is_switched_off_nothing_is_left_out(off):
    gc.unfreeze()
    off()
    exempt_reachable()
    assert gc.get_freeze_count() == 0
