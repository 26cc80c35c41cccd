"""Connections to a Dask cluster: each ends in time and leaves nothing behind, and no secret of the pool is sent."""

import socket
import sys
import threading
import zlib
from pathlib import Path

import pytest

from both_engines import plain, run, wait_for_workers
from dask_cluster import dask_cluster
from negotiator.audit.recorded_cycle import result_bytes
from negotiator.engines import dask_crew, dask_worker
from negotiator.engines.dask_client import EngineUnavailableError, dask_client
from negotiator.engines.dask_engine import DaskEngine
from negotiator.engines.sent_task import TaskReceiver
from negotiator.pool import read_pool_with_claims
from pools import write_ads
from processes import LongProgram

SECRET = "<192.0.2.1:9618>#1700000000#7#marker-of-a-claim"  # noqa: S105 - made up
SECRETS = (
    "ClaimId",
    "ClaimIds",
    "ClaimIdList",
    "Capability",
    "ChildClaimIds",
    "PairedClaimId",
    "TransferKey",
    "_condor_privX",
)
SHOWN = "marker-of-an-ad"
TIME = 60.0


@pytest.fixture
def threads(monkeypatch):
    """Return the address of a cluster of two workers, which are threads of this process; turns wait for them."""
    wait_for_workers(monkeypatch)
    with dask_cluster(processes=False) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def engine(threads):
    """Return the engine of that cluster."""
    made = DaskEngine(threads)
    yield made
    made.close()


@pytest.fixture
def silent():
    """Return the address of something that accepts connections, and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield "tcp://{}:{}".format(*server.getsockname())


def test_a_scheduler_that_accepts_a_connection_and_never_answers_is_given_up(silent):
    with (
        pytest.raises(EngineUnavailableError, match=r"no Dask scheduler answers at tcp:.*no answer in time"),
        dask_client(silent, 0.1),
    ):
        pass


def test_a_scheduler_needs_no_negotiator(monkeypatch, tmp_path):
    """One of dask-jobqueue may run in another environment than its workers."""
    code = "import sys; sys.modules['negotiator'] = None; from distributed.cli.dask_scheduler import main; main()"
    options = ("--host", "tcp://127.0.0.1:0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    wait_for_workers(monkeypatch)
    with LongProgram([sys.executable, "-c", code, *options], tmp_path) as scheduler:
        address = scheduler.wait_for(r"Scheduler at: +(\S+)")[1]
        worker = (
            sys.executable,
            "-m",
            "distributed.cli.dask_worker",
            address,
            "--no-nanny",
            "--host",
            "127.0.0.1",
        )
        with LongProgram([*worker, *options[2:]], tmp_path) as started:
            started.wait_for("Registered to")
            engine, pool = DaskEngine(address), plain()
            try:
                assert result_bytes(run(pool, engine)) == result_bytes(run(pool))
                assert engine.take_notices() == ()
            finally:
                engine.close()


def test_attempts_to_connect_leave_no_thread_and_no_open_file_behind(silent):
    def left():
        return len([*Path("/proc/self/fd").glob("*")]), threading.active_count()

    before = None
    for address in ("tcp://127.0.0.1:9", silent, "tls://127.0.0.1:9", "tcp://127.0.0.1:9", silent):
        with pytest.raises(EngineUnavailableError), dask_client(address, 0.1):
            pass
        before = left() if before is None else before  # libraries open some files once
    assert left() == before


def test_workers_that_do_not_answer_are_waited_for_together(engine, monkeypatch):
    waits, wait, ended = [], dask_crew.DaskShare.wait, threading.Event()

    def noted(share, number, seconds):
        waits.append(seconds)
        wait(share, number, seconds)

    answers = dask_worker.DaskConditionWorker.answers
    monkeypatch.setattr(dask_crew.DaskShare, "wait", noted)
    monkeypatch.setattr(dask_crew, "_ALL_PATIENCE", 0.3)
    monkeypatch.setattr(dask_crew, "_LAST_PATIENCE", 0.1)
    monkeypatch.setattr(
        dask_worker.DaskConditionWorker, "answers", lambda *args: ended.wait(TIME) and answers(*args)
    )
    pool = plain()
    try:
        assert result_bytes(run(pool, engine)) == result_bytes(run(pool))
    finally:
        ended.set()
    assert waits == [0.3, 0.1]
    assert sum("is lost" in each for each in engine.take_notices()) == 2


def test_workers_get_no_claim_id_and_no_capability(engine, tmp_path, monkeypatch):
    received, begin = [], dask_worker.DaskConditionWorker.begin
    monkeypatch.setattr(
        dask_worker.DaskConditionWorker,
        "begin",
        lambda self, message: received.append(message) or begin(self, message),
    )
    secret = "".join(f'{name} = "{SECRET}"\n' for name in SECRETS)
    made = plain(RequestMemory="ifThenElse(false, 1, 2)")
    write_ads(tmp_path / "plain.ads", *made.slots.ads, *made.jobs.ads)
    text = (tmp_path / "plain.ads").read_text().replace("\n\n", f'\nShown = "{SHOWN}"\n{secret}\n')
    (tmp_path / "pool.ads").write_text(text)
    (tmp_path / "plain.ads").unlink()
    pool, vault = read_pool_with_claims([tmp_path])
    assert len(vault) == len(made.slots)
    result = run(pool, engine)
    assert result.matches
    assert len(received) == 2  # workers
    for message in received:
        content = zlib.decompress(message)
        assert SHOWN.encode() in content
        assert b"marker-of-a-claim" not in content
        _, task = TaskReceiver().read(message)
        names = {name.lower() for ad in (*task.slots.ads, *task.jobs) for name, _ in ad.items()}
        assert {"shown", "requestmemory"} <= names
        assert names.isdisjoint(map(str.lower, SECRETS))
