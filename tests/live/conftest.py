"""What the tests of the live pool share: a daemon that plays a recorded answer, and a real pool."""

import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from condor_pool import PoolSettings, PoolUnavailableError, root_folder
from condor_pool.modes import ALL, MOSTLY_SECURE
from live_site import LiveSite
from negotiator_bench.real_pool import real_pool
from negotiator_live.wire.addresses import DaemonAddress

#: Made slots stay in the collector, and there is no negotiator besides this one.
SETTINGS = """DAEMON_LIST = MASTER COLLECTOR SCHEDD
CLASSAD_LIFETIME = 1000000
"""
RECORDINGS = Path(__file__).parent / "recordings"


@contextmanager
def _listening(serve):
    """Serve each connection with a function; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept():
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield DaemonAddress.parse("{}:{}".format(*listener.getsockname()))
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.fixture
def playing():
    """Return a context manager: a daemon that reads a request, sends these bytes and closes the connection."""

    @contextmanager
    def play(answer, *, first=b"", hold=None):
        requests = []

        def serve(connection):
            if first is not None:
                requests.append(connection.recv(1 << 16))
            connection.sendall(answer)
            if hold is not None:
                hold.wait()

        with _listening(serve) as address:
            yield address, requests

    return play


@pytest.fixture
def recording():
    """Return a function that reads the recorded answer of a real daemon."""
    return lambda name: (RECORDINGS / f"{name}.cedar").read_bytes()


@contextmanager
def _pool(settings):
    """Start a real pool; skip, with the reason, where none can be made."""
    try:
        root_folder()
    except PoolUnavailableError as error:
        pytest.skip(str(error))
    with real_pool(settings) as pool:
        yield pool, DaemonAddress.parse(f"127.0.0.1:{pool.port}")


@pytest.fixture(scope="module")
def open_pool():
    """Start a real pool that trusts everyone; return it and its collector's address."""
    with _pool(PoolSettings("open", more=SETTINGS)) as started:
        yield started


@pytest.fixture(scope="module")
def secure_pool():
    """Start a real pool that requires authentication and encryption; return it and its collector's address."""
    with _pool(PoolSettings("secure", more=SETTINGS)) as started:
        yield started


@pytest.fixture(scope="module")
def shared_port_pool():
    """Start a secure pool whose daemons share a port; return it and its collector's address."""
    with _pool(PoolSettings("secure", shared_port=True, more=SETTINGS)) as started:
        yield started


#: Four slots of this host; a schedd uses no claim for a second job, which nobody has matched.
RUNNING = """CLAIM_WORKLIFE = 0
SLOT_TYPE_1 = cpus=1, memory=512, disk=1%
SLOT_TYPE_1_PARTITIONABLE = False
NUM_SLOTS_TYPE_1 = 4
"""


#: Two partitionable slots; the second has a consumption policy. The settings of docs/live-pool.md for exact limits.
PARTITIONABLE = """CLAIM_WORKLIFE = 0
CLAIM_PARTITIONABLE_LEFTOVERS = False
SLOT_TYPE_1 = cpus=4, memory=2048, disk=20%
SLOT_TYPE_1_PARTITIONABLE = True
NUM_SLOTS_TYPE_1 = 1
SLOT_TYPE_2 = cpus=4, memory=2048, disk=20%
SLOT_TYPE_2_PARTITIONABLE = True
SLOT_TYPE_2_CONSUMPTION_POLICY = True
SLOT_TYPE_2_NUM_CLAIMS = 3
NUM_SLOTS_TYPE_2 = 1
"""


#: The pool's own negotiator leaves jobs idle for some seconds, in which they are observed.
NEGOTIATING = """DAEMON_LIST = MASTER COLLECTOR SCHEDD STARTD NEGOTIATOR
NEGOTIATOR_INTERVAL = 8
NEGOTIATOR_CYCLE_DELAY = 7
NEGOTIATOR_MIN_INTERVAL = 7
"""


@pytest.fixture(scope="module")
def negotiating_pool():
    """Start a secure pool that runs jobs, with condor_negotiator."""
    with _pool(PoolSettings("secure", more=RUNNING + NEGOTIATING)) as started:
        yield started


@pytest.fixture(scope="module", params=ALL)
def running_pool(request):
    """Start a real pool that runs jobs: trusting everyone, secure, and secure over a shared port."""
    with _running(request.param) as started:
        yield started


@pytest.fixture(scope="module", params=MOSTLY_SECURE)
def mostly_secure_pool(request):
    """Start a real pool that runs jobs, in secure mode; in the others if NEGOTIATOR_TEST_POOLS is all."""
    with _running(request.param) as started:
        yield started


def _running(name):
    mode = "open" if name == "open" else "secure"
    return _pool(PoolSettings(mode, shared_port=name == "shared port", more=RUNNING))


@pytest.fixture(scope="module")
def secure_running_pool():
    """Start a secure pool that runs jobs on four slots."""
    with _pool(PoolSettings("secure", more=RUNNING)) as started:
        yield started


@pytest.fixture
def any_site(running_pool, tmp_path):
    """Return a folder that serves each pool that runs jobs."""
    yield LiveSite(*running_pool, tmp_path)
    running_pool[0].remove_jobs()


@pytest.fixture
def site(secure_running_pool, tmp_path):
    """Return a folder that serves a secure pool with four slots."""
    yield LiveSite(*secure_running_pool, tmp_path)
    secure_running_pool[0].remove_jobs()


@pytest.fixture(scope="module")
def partitionable_pool():
    """Start a pool that runs jobs on partitionable slots, under the settings for exact limits."""
    with _pool(PoolSettings("open", more=PARTITIONABLE)) as started:
        yield started


@pytest.fixture
def partitionable_site(partitionable_pool, tmp_path):
    """Return a folder that serves a pool with partitionable slots."""
    yield LiveSite(*partitionable_pool, tmp_path)
    partitionable_pool[0].remove_jobs()


@pytest.fixture(scope="session")
def pool_of():
    """Return a context manager: a real pool with these settings, and its collector's address."""
    return _pool


@pytest.fixture(scope="module")
def running_pool_of():
    """Return a context manager: an open pool with these settings, for the tests of a module."""
    return lambda more: _pool(PoolSettings("open", more=more))


@pytest.fixture
def site_of(tmp_path):
    """Return a context manager: a folder that serves a pool of its own, with these settings and arguments of ``LiveSite``."""

    @contextmanager
    def start(more, mode="open", **arguments):
        with _pool(PoolSettings(mode, more=more)) as started:
            yield LiveSite(*started, tmp_path, **arguments)

    return start
