"""Recorded cycles and tests of policies on the engines: the same bytes, whatever becomes of the workers."""

import concurrent.futures
import hashlib
import json
import os
import shutil
import signal
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from cycle_numbers import CycleNumber, CycleNumberTask
from dask_cluster import dask_cluster
from negotiator.app import batches
from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.executors import workers
from negotiator.cli import main
from negotiator.engines import dask_executor
from negotiator.engines.choice import EngineChoice
from negotiator.engines.dask_client import dask_client
from negotiator.errors import CommandError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.state_location import DatabaseUrl
from pools import NOW, job, slot, write_ads, write_bundle

POLICIES = Path(__file__).parents[2] / "policies"
OLD = "policies:\n  - {name: large, applies_to: match, expression: TARGET.Memory > 5000}\n"
NEW = OLD.replace("large", "larger").replace("5000", "8000")
ODD = """
from negotiator.plugin import Filter, Verdict, hookimpl
import numpy as np

@hookimpl
def negotiator_filter_slots(request, slots):
    yield Filter(rule="odd", code="odd", verdict=Verdict.WAITING, allow=np.arange(len(slots)) % 2 == 0, text="odd slots rest")
"""
#: Does what a file says in the first and the second recorded cycle.
ACTING = """
import os, signal, time
from pathlib import Path
from negotiator.plugin import hookimpl

FOLDER = Path({folder!r})

@hookimpl
def negotiator_gate_ads(kind, ads, cycle):
    if (FOLDER / "interrupt").exists() and cycle.number == 1:
        os.kill(int((FOLDER / "interrupt").read_text()), signal.SIGINT)
        (FOLDER / "interrupt").unlink()
        while (FOLDER / "hold").exists():
            time.sleep(0.01)
    if (FOLDER / "end").exists() and cycle.number == 2:
        if (FOLDER / "end").read_text() == "once":
            (FOLDER / "end").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return ()
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Return the address of a scheduler with two workers, which run elsewhere than the tests, and try a call twice."""
    here = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    try:
        with dask_cluster(settings={"distributed.scheduler.allowed-failures": 1}) as started:
            os.chdir(here)
            yield started.scheduler_address
    finally:
        os.chdir(here)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder with two bundles and their plugins, a folder of plugins, and three recorded cycles."""
    for name, text in (("old", OLD), ("new", NEW)):
        write_bundle(tmp_path / name, text, plugins={"odd": ODD})
    (tmp_path / "more").mkdir(mode=0o755)
    (tmp_path / "more" / "acting.py").write_text(ACTING.format(folder=str(tmp_path)))
    slots = [slot(n, Memory=str(4000 + 1500 * n)) for n in range(6)]
    write_ads(tmp_path / "pool.ads", *slots, *[job(n, RequestCpus="1") for n in range(4)])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEGOTIATOR_CONFIG", "")
    words = ("run", "--bundle", "old", "--plugins-dir", "more", "--no-audit", "--record", "rec", "pool.ads")
    assert ask(*words, "--cycles", "3", "--now", NOW).exit_code == 0
    return tmp_path


def ask(*words):
    return CliRunner().invoke(main, [*map(str, words)])


REPLAY = ("replay", "rec", "--plugins-dir", "more", "--json")


@pytest.mark.usefixtures("site")
def test_every_engine_prints_the_same_bytes(cluster):
    recorded = ("--recorded", "rec", "--plugins-dir", "more", "--json", "--jobs")
    calls = (
        REPLAY,
        ("diff", "old", "new", *recorded),
        ("diff", "recorded", "new", *recorded),
        ("whatif", "--add-slots", "3", "s0@h", *recorded),
        (
            "whatif",
            "--bundle",
            "old",
            "--setting",
            "NEGOTIATOR_PE_STARTD_ONLY_EXPR=MY.Memory > 6000",
            *recorded,
        ),
    )
    expected = [ask(*call) for call in calls]
    assert [each.exit_code for each in expected] == [0] * len(calls), [each.output for each in expected]
    found = [ask(*call, "--engine", f"dask:{cluster}") for call in calls]
    assert [each.output for each in found] == [each.output for each in expected]
    assert ask(*REPLAY, "--engine", "processes:2").output == expected[0].output


@pytest.mark.usefixtures("site")
def test_finished_results_are_those_of_every_engine(cluster):
    ask("replay", "rec", "--plugins-dir", "more", "--resume", "done")
    done = ask("replay", "rec", "--plugins-dir", "more", "--resume", "done", "--engine", f"dask:{cluster}")
    assert done.output.endswith("3 cycles: 3 the same, 0 different, 3 decided earlier\n")


def test_a_refused_recording_leaves_the_others(site, cluster):
    (site / "rec" / "damaged.cycle").write_text("{}\n")
    done = ask(*REPLAY, "--engine", f"dask:{cluster}")
    assert (done.exit_code, done.stderr) == (
        3,
        "error: rec/damaged.cycle: the file is not a recorded cycle\n",
    )
    assert len(done.stdout.splitlines()) == 3


@pytest.fixture
def _interruptible():
    """Let SIGINT be Ctrl-C also where the tests were started in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_ctrl_c_keeps_what_workers_have_begun(site, cluster, monkeypatch, kind):
    """The first cycle ends after those that nobody has begun are cancelled."""
    engine = "processes:1" if kind == "processes" else f"dask:{cluster}"
    (site / "interrupt").write_text(str(os.getpid()))
    (site / "hold").touch()
    release, shut_down, wait = (site / "hold").unlink, ProcessPoolExecutor.shutdown, concurrent.futures.wait

    def shut_down_released(*words, **named):
        release(missing_ok=True)
        shut_down(*words, **named)

    monkeypatch.setattr(ProcessPoolExecutor, "shutdown", shut_down_released)
    monkeypatch.setattr(concurrent.futures, "wait", lambda calls: release(missing_ok=True) or wait(calls))
    done = ask("replay", "rec", "--plugins-dir", "more", "--resume", "done", "--engine", engine)
    assert done.exit_code == 130
    assert "stopped: 3 cycles not decided (the same command goes on)" in done.output
    (first, *_) = sorted(site.glob("rec/*.cycle"))
    assert hashlib.sha256(first.read_bytes()).hexdigest() in Path("done").read_text()
    expected = ask(*REPLAY).output
    assert ask(*REPLAY, "--resume", "done").output == expected


def test_a_cycle_is_decided_again_if_its_worker_of_dask_is_killed(site, cluster):
    expected = ask(*REPLAY).output
    (site / "end").write_text("once")
    assert ask(*REPLAY, "--engine", f"dask:{cluster}").output == expected
    assert not (site / "end").exists()


def test_a_cycle_whose_workers_of_dask_always_end_is_named(site, cluster):
    (site / "end").write_text("always")
    done = ask(*REPLAY, "--engine", f"dask:{cluster}", "--resume", "done")
    (second,) = site.glob("rec/*2.cycle")
    assert done.exit_code == 1
    assert (
        f"{second.relative_to(site)}: the workers of {cluster} that had this call ended 2 times"
        in done.stderr
    )
    assert "--memory-limit" in done.stderr
    (site / "end").unlink()
    assert "decided earlier" in ask(*REPLAY[:-1], "--engine", f"dask:{cluster}", "--resume", "done").output


def test_a_process_that_ended_before_a_call_is_an_error_with_what_to_do():
    """An executor whose process has ended refuses further calls."""

    def calls(executor):
        ended = executor.submit(os._exit, 1)
        concurrent.futures.wait([ended])
        yield executor.submit(os.getpid)

    refusal = pytest.raises(CommandError, match=r"use fewer processes \(--engine processes:N\)")
    with workers(EngineChoice.parse("processes:1")) as processes, refusal:
        list(processes.results(calls(processes.executor)))


def test_a_process_that_ends_is_an_error_with_what_to_do(site):
    (site / "end").write_text("always")
    done = ask(*REPLAY, "--engine", "processes:1")
    assert (done.exit_code, "use fewer processes (--engine processes:N)" in done.stderr) == (1, True), (
        done.output
    )


@pytest.mark.usefixtures("site")
def test_a_worker_with_another_version_or_other_plugins_refuses(cluster, monkeypatch):
    names = dict(dask_executor.caller_identity())
    del names["plugin access"]
    changed = (*{**names, "negotiator": "9.0"}.items(), ("plugin ours", "1.0"))
    monkeypatch.setattr(dask_executor, "caller_identity", lambda: changed)
    done = ask(*REPLAY, "--engine", f"dask:{cluster}")
    assert done.exit_code == 1
    assert "instead of 9.0, plugin ours missing instead of 1.0, plugin access too; install" in done.stderr


@pytest.mark.usefixtures("site")
def test_a_worker_without_the_program_is_an_error_with_what_to_do(cluster, monkeypatch):
    monkeypatch.setattr(dask_executor, "_ANSWER", dask_executor._ANSWER.replace("negotiator.", "missing."))
    done = ask(*REPLAY, "--engine", f"dask:{cluster}")
    assert (
        done.exit_code,
        "ModuleNotFoundError: No module named 'missing'; install it" in done.stderr,
    ) == (1, True), done.output


@pytest.mark.usefixtures("site")
def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr(dask_executor, "dask_client", partial(dask_client, seconds=0.2))
    done = ask(*REPLAY, "--engine", "dask:127.0.0.1:1")
    assert (done.exit_code, "no Dask scheduler answers at 127.0.0.1:1" in done.stderr) == (1, True), (
        done.output
    )


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "command", [("replay", "rec"), ("diff", "old", "new", "--pool", "pool.ads"), ("test", "--bundle", "old")]
)
def test_an_unknown_engine_is_refused_with_those_that_there_are(command):
    done = ask(*command, "--engine", "threads:2")
    assert (done.exit_code, "local, processes:N" in done.stderr) == (2, True), done.output


def test_a_few_of_many_recordings_are_held_at_once(site, cluster, monkeypatch):
    """Each worker has one recording that it decides, and one that waits."""
    (first, *_) = sorted(site.glob("rec/*.cycle"))
    many = [site / f"{number}.cycle" for number in range(200)]
    for each in many:
        shutil.copy(first, each)
    read = []
    monkeypatch.setattr(batches, "read_trusted", lambda file: read.append(file) or file.read_bytes())
    for text, most in (("local", 1), ("processes:1", 2), (f"dask:{cluster}", 4)):
        read.clear()
        held = []
        with workers(EngineChoice.parse(text)) as chosen:
            for done, each in enumerate(batches.over_recorded(many, CycleNumberTask(), chosen)):
                held.append(len(read) - done)
                assert (each.file, each.refusal, each.result) == (many[done], None, CycleNumber(1))
        assert (max(held), len(held)) == (most, len(many))


def test_other_machines_get_the_contents_of_a_bundle_and_no_secret(site):
    secret = CommandTargets(
        bundle=site / "old",
        plugins_dirs=(site / "more",),
        disable=("groups",),
        state=site / "state",
        state_database=DatabaseUrl("postgresql://user:secret@host/name"),
    )
    choice = BundleChoice.of_folder(secret)
    sent = choice.portable()
    assert sent.targets == CommandTargets(disable=("groups",))
    for folder in ("old", "more"):
        shutil.rmtree(site / folder)
    assert sent.bundle().hooks.plugin_set == choice.plugins


def test_tests_of_policies_print_the_same_on_every_engine(cluster):
    words = ("test", POLICIES / "minimum-machine", POLICIES / "rollout", "--format", "json")
    expected = ask(*words).output
    assert json.loads(expected)["rules"]
    assert ask(*words, "--engine", "processes:1").output == expected
    assert ask(*words, "--engine", f"dask:{cluster}").output == expected
    strict = (*words, "--strict-undefined")
    assert ask(*strict, "--engine", f"dask:{cluster}").output == ask(*strict).output


def test_an_invalid_test_of_policies_is_the_same_error_on_every_engine(site, cluster):
    test = "tests:\n  - {name: a job, expect: [{job: 1.0, verdict: matched}]}\n"
    (site / "old" / "a_test.yaml").write_text(test)
    done = ask("test", "--bundle", "old", "--engine", f"dask:{cluster}")
    assert (done.exit_code, "a_test.yaml:2:34: error: the test has no job 1.0" in done.stderr) == (2, True)
    assert done.stderr == ask("test", "--bundle", "old").stderr


def test_a_cluster_without_workers_is_noted():
    with dask_cluster(workers=0) as empty:
        address = empty.scheduler_address
        with workers(EngineChoice.parse(f"dask:{address}")) as chosen:
            assert f"{address} has no workers" in chosen.note
