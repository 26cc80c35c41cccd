"""The engine of a Dask cluster: the same decisions byte for byte, whatever becomes of its workers."""

import os
import random
import signal
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import condor_cycle
from both_engines import POOLS, plain, run, run_on_both, wait_for_workers
from dask_cluster import dask_cluster, scheduler_address
from negotiator.audit.recorded_cycle import result_bytes
from negotiator.engines import dask_crew, dask_engine, dask_member, dask_worker, finder, program_identity
from negotiator.engines.ahead import AheadConditions
from negotiator.engines.dask_client import EngineUnavailableError
from negotiator.engines.dask_engine import DaskEngine
from negotiator.pool import Snapshot, read_pool
from pools import write_ads
from random_pools import CONTENT, pools, unstable_pools

# Threads of Dask use ``random`` while Hypothesis draws a pool, which is none of its business.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")

KILLS = int(os.environ.get("NEGOTIATOR_KILLS", "6"))
SLOW = settings(
    derandomize=True,
    max_examples=POOLS,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)


@pytest.fixture(scope="module")
def threads():
    """Return the address of a cluster whose workers are threads of this process."""
    with scheduler_address() as address:
        yield address


@pytest.fixture(scope="module")
def machines():
    """Return a cluster of two worker processes, which its nannies start again when they end."""
    with dask_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def kept(threads, machines):  # noqa: ARG001 - engines end before their clusters
    """Return what makes the engine of an address, which is kept for all tests of the module."""
    engines = {}
    yield lambda address: engines.setdefault(address, DaskEngine(address))
    for each in engines.values():
        each.close()


@pytest.fixture
def sources(monkeypatch):
    """Return the conditions that workers found, one object for each cycle."""
    made = []
    monkeypatch.setattr(
        dask_engine, "AheadConditions", lambda *args: made.append(AheadConditions(*args)) or made[-1]
    )
    return made


@pytest.fixture(autouse=True)
def waiting_turns(monkeypatch):
    wait_for_workers(monkeypatch)


@pytest.fixture
def on_both(monkeypatch, kept, threads):
    """Let replays of pools of HTCondor run on one process and on the cluster, with lists that run out."""
    monkeypatch.setattr(finder, "LEAST_LISTED", 2)
    monkeypatch.setattr(finder, "LISTED_EACH", 0)

    monkeypatch.setattr(condor_cycle, "run_cycle", partial(run_on_both, engine=kept(threads)))


def decided(pool):
    """Decide a random pool."""
    with tempfile.TemporaryDirectory() as folder:
        condor_cycle.Replay(CONTENT, pool, Path(folder) / "bundle").decide(pool)


@pytest.mark.usefixtures("on_both")
@SLOW
@given(pools(grouped=True))
def test_the_decisions_are_the_same_in_random_pools(pool):
    decided(pool)


@pytest.mark.usefixtures("on_both")
@SLOW
@given(unstable_pools(grouped=True))
def test_the_decisions_are_the_same_where_each_match_changes_what_expressions_read(pool):
    decided(pool)


def test_worker_processes_find_the_conditions_of_every_request_of_several_cycles(kept, machines, sources):
    engine = kept(machines.scheduler_address)
    for first in (0, 0, 7):  # the slots are the same, and then others
        pool = plain(first=first)
        assert result_bytes(run(pool, engine)) == result_bytes(run(pool))
        assert sources[-1].used >= 12
        assert sources[-1].missed == 0
        assert len(sources[-1].workers) == 2
    assert engine.take_notices() == ()


@pytest.mark.parametrize("is_recorded", [False, True])
def test_jobs_with_the_expressions_that_htcondor_writes_are_decided_alike(
    kept, threads, tmp_path, sources, is_recorded
):
    made = plain(RequestMemory="ifThenElse(MemoryUsage isnt undefined, MemoryUsage, ImageSize / 1024)", ImageSize="2000")  # fmt: skip
    write_ads(tmp_path / "pool.ads", *made.slots.ads, *made.jobs.ads)
    pool = Snapshot.decode(made.encode()) if is_recorded else read_pool([tmp_path / "pool.ads"])
    assert result_bytes(run(pool, kept(threads))) == result_bytes(run(pool))
    assert sources[-1].used >= 12


def test_only_changed_rows_are_sent_to_workers_that_have_the_others(machines, monkeypatch):
    sizes = []
    begin = dask_engine.TaskSender.message
    monkeypatch.setattr(
        dask_engine.TaskSender, "message", lambda *args: sizes.append(begin(*args)) or sizes[-1]
    )
    engine = DaskEngine(machines.scheduler_address)
    try:
        for first in (1000, 1001):
            run(plain(slots=2000, first=first), engine)
    finally:
        engine.close()
    # A worker that joined late has no rows yet, and gets all of them.
    assert min(map(len, sizes)) < len(sizes[0]) / 3


@pytest.mark.parametrize("seed", range(KILLS))
def test_workers_that_are_killed_or_stopped_at_any_moment_lose_nothing(sources, monkeypatch, seed):
    chance, pool = random.Random(seed), plain(classes=30)  # noqa: S311 - moments, not secrets
    expected, stopped = result_bytes(run(pool)), []

    def hit(_progress):
        for nanny in list(cluster.workers.values()) if chance.random() < 0.05 else ():
            pid = nanny.pid  # None while it is started again
            if pid is None or chance.random() < 0.5:
                continue
            number = chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
            with suppress(ProcessLookupError):
                os.kill(pid, number)
                stopped.append(pid)

    with dask_cluster() as cluster:
        engine = DaskEngine(cluster.scheduler_address)
        try:
            assert result_bytes(run(pool, engine)) == expected
            assert sources[0].used
            monkeypatch.setattr(dask_crew, "_PATIENCE", 0.2)  # from now on workers stall
            for _ in range(3):
                assert result_bytes(run(pool, engine, watch=hit)) == expected
        finally:
            engine.close()
            for pid in stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("answer", [None, (0, 0.1, b"nothing that was compressed"), "no batch", 7])
def test_a_worker_whose_answers_cannot_be_read_is_lost(threads, monkeypatch, sources, answer):
    monkeypatch.setattr(dask_worker.DaskConditionWorker, "answers", lambda *_: answer)
    engine, pool = DaskEngine(threads), plain()
    try:
        assert result_bytes(run(pool, engine)) == result_bytes(run(pool))
        assert sources[0].used == 0
        assert all("is lost" in each for each in engine.take_notices())
    finally:
        engine.close()


def test_a_worker_that_runs_another_program_is_refused_and_reported_once(threads, monkeypatch, sources):
    engine = DaskEngine(threads)
    monkeypatch.setattr(dask_member, "program_identity", lambda: (("numpy", "1"),))
    try:
        pool = plain()
        for _ in range(2):
            assert result_bytes(run(pool, engine)) == result_bytes(run(pool))
        assert sources == []
        notices = engine.take_notices()
        assert sum("refused, it runs numpy" in each for each in notices) == 2  # of two workers
        assert engine.take_notices() == ()
    finally:
        engine.close()


def test_a_worker_without_the_program_is_refused_and_goes_on_for_others(machines, monkeypatch, sources):
    monkeypatch.setattr(dask_member, "_IDENTITY", "__import__('negotiator_that_is_missing')")
    engine, before = DaskEngine(machines.scheduler_address), [each.pid for each in machines.workers.values()]
    try:
        run(plain(), engine)
        assert sources == []
        assert any("refused, it runs no program of this version" in each for each in engine.take_notices())
        assert [each.pid for each in machines.workers.values()] == before
    finally:
        engine.close()


def test_a_cluster_that_is_away_costs_the_cycle_its_workers_only(sources, monkeypatch):
    monkeypatch.setattr(dask_engine, "TIMEOUT", 0.2)
    monkeypatch.setattr(dask_engine, "_IN_CYCLE", 0.2)
    engine = DaskEngine("tcp://127.0.0.1:9")
    with pytest.raises(EngineUnavailableError, match="no Dask scheduler answers at tcp://127"):
        engine.connect()
    pool = plain()
    assert result_bytes(run(pool, engine)) == result_bytes(run(pool))
    assert "decided without workers" in engine.take_notices()[0]
    assert sources == []


def test_two_programs_with_other_sources_differ():
    ours = program_identity.program_identity()
    assert program_identity.difference(ours, ours) == ""
    other = tuple((name, value + "x" if name == "negotiator" else value) for name, value in ours)
    assert "instead of" in program_identity.difference(ours, other)
