"""Connections to a Dask cluster: each ends in time and leaves nothing behind."""

import operator
import socket
import sys
import threading
from pathlib import Path

import pytest

from negotiator.engines.dask_client import EngineUnavailableError, dask_client
from negotiator.engines.dask_executor import dask_executor
from processes import LongProgram

TIME = 60.0


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


def test_a_scheduler_needs_no_negotiator(tmp_path):
    """One of dask-jobqueue may run in another environment than its workers."""
    code = "import sys; sys.modules['negotiator'] = None; from distributed.cli.dask_scheduler import main; main()"
    options = ("--host", "tcp://127.0.0.1:0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
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
            with dask_executor(address) as executor:
                assert executor.submit(operator.add, 1, 2).result(TIME) == 3


def test_attempts_to_connect_leave_no_thread_and_no_open_file_behind(silent):
    def left():
        return len([*Path("/proc/self/fd").glob("*")]), threading.active_count()

    before = None
    for address in ("tcp://127.0.0.1:9", silent, "tls://127.0.0.1:9", "tcp://127.0.0.1:9", silent):
        with pytest.raises(EngineUnavailableError), dask_client(address, 0.1):
            pass
        before = left() if before is None else before  # libraries open some files once
    assert left() == before
