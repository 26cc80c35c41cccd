"""The engine of processes: the same decisions byte for byte, whatever becomes of the workers."""

import os
import random
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings

import condor_cycle
from both_engines import POOLS, WORKERS, plain, run, run_on_both, wait_for_workers
from negotiator.audit.recorded_cycle import result_bytes
from negotiator.bundle import load_bundle
from negotiator.cycle import work_accounts
from negotiator.cycle.cycle_time import RecordedTime, TimeStop
from negotiator.cycle.loop import run_cycle
from negotiator.engines import ahead, finder, processes
from negotiator.engines.ahead import AheadConditions
from negotiator.engines.condition_task import ConditionTask
from negotiator.engines.processes import ProcessEngine
from negotiator.hooks.turn_time import TimeLimit
from negotiator.plugin import Cycle
from negotiator.records import Station
from pools import job, slot, snapshot, write_bundle
from random_pools import CONTENT, pools, unstable_pools

SLOW = settings(derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.fixture
def sources(monkeypatch):
    """Return the conditions that workers found, one object for each cycle."""
    made = []
    monkeypatch.setattr(
        processes, "AheadConditions", lambda *args: made.append(AheadConditions(*args)) or made[-1]
    )
    return made


def decided(pool):
    """Decide a random pool on both engines."""
    with tempfile.TemporaryDirectory() as folder:
        condor_cycle.Replay(CONTENT, pool, Path(folder) / "bundle").decide(pool)


@pytest.fixture(autouse=True)
def on_both_engines(monkeypatch):
    """Let replays of pools of HTCondor run on both engines; turns wait for the workers, which small pools would outrun."""
    monkeypatch.setattr(condor_cycle, "run_cycle", run_on_both)
    wait_for_workers(monkeypatch)


@pytest.fixture
def short_lists(monkeypatch):
    """Let workers list two slots for a request, so that lists run out."""
    monkeypatch.setattr(finder, "LEAST_LISTED", 2)
    monkeypatch.setattr(finder, "LISTED_EACH", 0)


@pytest.mark.usefixtures("short_lists")
@settings(SLOW, max_examples=POOLS)
@given(pools(grouped=True))
def test_the_decisions_are_the_same_in_random_pools(pool):
    decided(pool)


@pytest.mark.usefixtures("short_lists")
@settings(SLOW, max_examples=POOLS)
@given(unstable_pools(grouped=True))
def test_the_decisions_are_the_same_where_each_match_changes_what_expressions_read(pool):
    decided(pool)


def test_workers_find_the_conditions_of_every_request(sources):
    pool = plain()
    assert result_bytes(run(pool, WORKERS)) == result_bytes(run(pool))
    assert sources[0].used >= 12
    assert sources[0].missed == 0


def test_answers_that_take_too_much_memory_are_dropped_and_found_by_the_cycle_itself(sources, monkeypatch):
    monkeypatch.setattr(ahead, "MOST_HELD", 400)
    pool = plain(classes=30)
    assert result_bytes(run(pool, WORKERS)) == result_bytes(run(pool))
    assert sources[0].used
    assert sources[0].missed


@pytest.mark.usefixtures("short_lists")
def test_lists_of_the_best_slots_that_run_out_are_found_anew(sources):
    pool = plain(slots=60, jobs=5)
    assert result_bytes(run(pool, WORKERS)) == result_bytes(run(pool))
    assert sources[0].used


def test_slots_that_the_order_prefers_come_first(sources, tmp_path):
    queues = (
        "partitions: [{name: default, nodesortpolicy: {type: binpacking}, placementrules: [{name: fixed, value: root.all}],"
        " queues: [{name: root, submitacl: '*', queues: [{name: all}]}]}]\n"
    )
    write_bundle(tmp_path / "bundle", "order: queues\n")
    (tmp_path / "bundle" / "queues.yaml").write_text(queues)
    bundle, pool = load_bundle(tmp_path / "bundle"), plain()
    cycle = Cycle(1, 1_800_000_000.0, bundle.digest)
    alone = run_cycle(pool, bundle, cycle)
    assert alone.matches
    assert result_bytes(run_cycle(pool, bundle, cycle, engine=WORKERS)) == result_bytes(alone)
    assert sources[0].used


SCORES = """
import numpy as np
from negotiator.plugin import Score, hookimpl

@hookimpl
def negotiator_job_attributes():
    return ["Wish"]

@hookimpl
def negotiator_score_slots(request, slots):
    yield Score("near", -np.abs(slots.numbers("Cpus", default=0) - request.ad.integer("Wish", 3)))
    yield Score("memory", slots.numbers("Memory", default=0))
"""


@pytest.mark.usefixtures("short_lists")
def test_slots_that_plugins_score_come_first_whatever_workers_list(sources, tmp_path):
    bundle = write_bundle(tmp_path / "bundle", plugins={"scores": SCORES})
    cycle = Cycle(1, 1_800_000_000.0, bundle.digest)
    pool = plain(slots=60, jobs=5, Wish="ClusterId % 7")
    alone = run_cycle(pool, bundle, cycle)
    assert {each.rule for match in alone.matches for each in match.scores} == {"near", "memory"}
    assert result_bytes(run_cycle(pool, bundle, cycle, engine=WORKERS)) == result_bytes(alone)
    assert sources[0].used


def test_a_request_counts_all_steps_of_its_conditions_also_of_those_that_were_known():
    class First:
        @contextmanager
        def begin(self, task):
            same = [finder.ConditionFinder(ConditionTask.of(task), task.matcher.taken)]
            found.append([same[0].find(number) for number in (0, 0)])
            yield None

    found = []
    run(plain(), First())
    first, again = found[0]
    assert first.found.removals == again.found.removals
    assert 0 < first.steps <= again.steps


def test_a_cycle_in_which_a_machine_may_run_out_of_steps_is_decided_by_one_process(sources, monkeypatch):
    monkeypatch.setattr(work_accounts, "STEPS_EACH_MACHINE", 60)
    monkeypatch.setattr(work_accounts, "STEPS_EACH_REQUEST", 0)
    costly = slot(0, Machine='"m"', Speed=" + ".join(["TARGET.Mine * 0"] * 10))
    machines = [costly, *(slot(n, Machine=f'"n{n}"', Speed="1") for n in range(1, 20))]
    pool = snapshot(machines, [job(n, Mine=str(n), Requirements="TARGET.Speed < 2") for n in range(1, 16)])
    stations = []
    found = run(pool, WORKERS, watch=lambda progress: stations.append(progress.station))
    assert result_bytes(found) == result_bytes(run(pool))
    assert stations.count(Station.ADMIT) == 2  # it began again
    assert len(sources) == 1


def test_cycles_below_a_number_of_pairs_have_no_workers(sources, monkeypatch):
    pool = plain()
    pairs = run(pool).counts.requests * len(pool.slots)
    monkeypatch.setattr(ahead, "LEAST_PAIRS", pairs + 1)
    run(pool, WORKERS)
    assert sources == []
    monkeypatch.setattr(ahead, "LEAST_PAIRS", pairs)
    run(pool, WORKERS)
    assert len(sources) == 1


def test_conditions_that_read_what_the_order_changes_are_left_to_the_cycle(sources):
    pool = plain(Requirements="TARGET.Cpus > 2 && MY.SubmitterUserResourcesInUse < 5")
    assert result_bytes(run(pool, WORKERS)) == result_bytes(run(pool))
    assert sources[0].used < 12


def test_conditions_are_left_to_the_cycle_also_where_ranks_of_jobs_are_ignored(sources, tmp_path):
    bundle = write_bundle(tmp_path / "bundle", "order: submitters\nNEGOTIATOR_IGNORE_JOB_RANKS: true\n")
    cycle = Cycle(1, 1_800_000_000.0, bundle.digest)
    pool = plain(Requirements="TARGET.Cpus > 2 && MY.SubmitterUserResourcesInUse < 5")
    alone = run_cycle(pool, bundle, cycle)
    assert result_bytes(run_cycle(pool, bundle, cycle, engine=WORKERS)) == result_bytes(alone)
    assert sources[0].used < 12


def test_random_ranks_and_requirements_are_left_to_the_cycle(sources):
    for changed in ({"Rank": "random(100)"}, {"Requirements": "random() < 0.5"}):
        pool = plain(**changed)
        assert result_bytes(run(pool, WORKERS)) == result_bytes(run(pool))
        assert sources.pop().used == 0


@pytest.mark.parametrize("seed", range(30))
def test_workers_that_are_killed_or_stopped_at_any_moment_lose_nothing(sources, monkeypatch, seed):
    monkeypatch.setattr(processes, "_PATIENCE", 0.05)
    chance, pool = random.Random(seed), plain(classes=30)  # noqa: S311 - moments, not secrets
    expected = result_bytes(run(pool))

    def hit(_progress):
        for each in sources[0].workers.forks if sources else ():
            if chance.random() < 0.1:
                os.kill(each.pid, chance.choice((signal.SIGKILL, signal.SIGSTOP)))

    engine = ProcessEngine(2)
    assert result_bytes(run(pool, engine, watch=hit)) == expected
    assert all("ended before its cycle" in each for each in engine.take_notices())


def test_a_worker_that_was_killed_is_reported(sources):
    def kill(_progress):
        for each in sources[0].workers.forks[:1] if sources else ():
            os.kill(each.pid, signal.SIGKILL)

    engine = ProcessEngine(2)
    run(plain(classes=120), engine, watch=kill)  # so many that none has ended before
    assert engine.take_notices() == ("a worker process of the engine ended before its cycle",)
    run(plain(), engine)
    assert engine.take_notices() == ()


def test_a_cycle_that_cannot_have_workers_says_so_once(sources, tmp_path):
    bundle = write_bundle(tmp_path / "bundle", "match: fill\n")
    engine, pool = ProcessEngine(2), plain()
    machines = [slot(n, PartitionableSlot="true", SlotType='"Partitionable"') for n in range(4)]
    pool = attrs.evolve(pool, slots=snapshot(machines).slots)
    for expected in (1, 0):
        run_cycle(pool, bundle, Cycle(1, 1_800_000_000.0, bundle.digest), engine=engine)
        assert len(engine.take_notices()) == expected
    assert sources == []


def test_a_cycle_in_which_an_owner_may_run_out_of_steps_is_decided_by_one_process(sources, monkeypatch):
    monkeypatch.setattr(work_accounts, "STEPS_EACH_SLOT", 0)
    monkeypatch.setattr(work_accounts, "STEPS_EACH_AD", 2)
    monkeypatch.setattr(work_accounts, "LEAST_SLOTS", 0)
    pool = plain()
    alone = run(pool)
    assert any("steps" in each.reason.text for outcome in alone.outcomes for each in outcome.removals)
    assert result_bytes(run(pool, WORKERS)) == result_bytes(alone)
    assert len(sources) == 1


def test_an_owner_may_run_out_of_steps_by_requests_that_the_cycle_evaluates_itself(monkeypatch):
    monkeypatch.setattr(work_accounts, "STEPS_EACH_SLOT", 0)
    monkeypatch.setattr(work_accounts, "LEAST_SLOTS", 0)
    written = [f"MY.ClusterId + 0 * {' * '.join(['TARGET.Cpus'] * 40)} > 0"] * 3 + [
        "random() < 2 && TARGET.Memory + MY.ClusterId > 0"
    ] * 3
    waiting = [
        job(ClusterId=str(kind), Owner='"u"', User='"u@d"', Requirements=text)
        for kind, text in enumerate(written, 1)
    ]
    pool, exceeded = snapshot([slot(n, Cpus=str(n % 8 + 1)) for n in range(20)], waiting), set()
    for steps in (1, *range(400, 2400, 100)):
        monkeypatch.setattr(work_accounts, "STEPS_EACH_AD", steps)
        alone = run(pool)
        exceeded.add(len(alone.matches))
        assert result_bytes(run(pool, WORKERS)) == result_bytes(alone), steps
    assert len(exceeded) > 3  # which requests found none left differs from cycle to cycle


def test_no_worker_outlives_a_cycle_that_fails(sources):
    def fail(_progress):
        if sources:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(plain(), WORKERS, watch=fail)
    for each in sources[0].workers.forks:
        with pytest.raises(ProcessLookupError):
            os.kill(each.pid, 0)


def test_a_cycle_that_begins_again_meets_all_recorded_time_stops_again():
    stop = TimeStop(TimeLimit.CYCLE, "", "", 0)
    time = RecordedTime([stop])
    assert time.ends_cycle()
    time.begin_again()
    assert time.stops == []
    assert time.ends_cycle()
    assert time.stops == [stop]
