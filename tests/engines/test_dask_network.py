"""A Dask cluster on several hosts of a real network: the same bytes, whatever becomes of its links.

Each host is a network namespace, with a scheduler, a worker or a negotiator in processes of its own.
"""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from both_engines import plain
from dask_cluster import ELSEWHERE
from dask_site import dask_site
from network_hosts import NoNetworkError
from pools import NOW, write_ads
from remote_cycles import CLASSES, remote_cycles

ROOT = Path(__file__).parents[2]
TIME = 120.0
TURN = 30
"""The turn at which links are cut: workers have begun by far not all requests."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a site of four hosts; frames from and to the negotiator's pass a wire that can be disturbed."""
    with ExitStack() as stack:
        try:
            yield stack.enter_context(dask_site(tmp_path_factory.mktemp("network")))
        except NoNetworkError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="module")
def process(site):
    """Return the process of a negotiator, which is kept for all tests of the module."""
    with remote_cycles(site.negotiator, site.address) as started:
        yield started


@pytest.fixture
def cycles(process):
    """Return that process when its cycles have both workers."""
    process.until(has_both)
    return process


def has_both(found):
    """True if both workers took part and found all conditions."""
    return found["workers"] == 2 and not found["missed"]


def cut(cycles, *hosts):
    """Run a cycle, and cut the links of hosts in the middle of it; return what it found."""
    cycles.begin(TURN)
    for each in hosts:
        each.unplug()
    cycles.go_on()
    return cycles.end()


def test_every_host_with_a_worker_finds_conditions(site, cycles):
    before = [each.received() for each in site.workers]
    found = cycles.until(has_both)
    assert found["used"] == CLASSES
    assert all(each.received() > was for each, was in zip(site.workers, before, strict=True))


def test_a_slow_link_that_loses_packets_costs_time_only(site, cycles):
    site.negotiator.disturb(delay=0.005, loss=0.05)
    try:
        assert [cycles.run()["same"] for _ in range(3)] == [True] * 3
    finally:
        site.negotiator.disturb()
    cycles.until(has_both)


def test_a_worker_that_is_cut_off_in_mid_cycle_is_lost_and_comes_back(site, cycles):
    lost, other = site.workers
    found = cut(cycles, lost)
    try:
        assert found["same"]
        assert any(f"//{lost.address}:" in each and "is lost" in each for each in found["notices"])
        before = other.received()
        assert cycles.run()["same"]
        assert other.received() > before
    finally:
        lost.plug()
    cycles.until(has_both)


def test_a_scheduler_that_is_cut_off_in_mid_cycle_is_reported_and_comes_back(site, cycles):
    found = cut(cycles, site.scheduler)
    try:
        assert found["same"]
        assert found["used"]
        found = cycles.run()
        assert (found["same"], found["workers"]) == (True, 0)
        assert f"the Dask scheduler at {site.address} does not answer" in found["notices"][0]
        found = cycles.run()  # tries to connect again
        assert (found["same"], found["workers"]) == (True, 0)
        assert f"no Dask scheduler answers at {site.address}" in found["notices"][0]
    finally:
        site.scheduler.plug()
    cycles.until(has_both)


def test_a_negotiator_that_is_cut_off_in_mid_cycle_decides_by_itself(site, cycles):
    found = cut(cycles, site.negotiator)
    try:
        assert found["same"]
        assert found["missed"]
        assert sum("is lost" in each for each in found["notices"]) == 2
        assert cycles.run()["same"]
    finally:
        site.negotiator.plug()
    cycles.until(has_both)


def test_the_command_writes_the_same_matches_and_the_same_audit_log(site, tmp_path):
    pool = plain(slots=4200, classes=500, jobs=1)  # so large that workers are used
    write_ads(tmp_path / "pool.ads", *pool.slots.ads, *pool.jobs.ads)

    def run(name, *words, host=site.negotiator):
        command = [
            sys.executable,
            "-m",
            "negotiator",
            "run",
            "pool.ads",
            "--json",
            "--now",
            NOW,
            "--audit-log",
            name,
        ]
        done = subprocess.run(
            host.command(*command, *words),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=TIME,
            check=True,
        )
        files = sorted((tmp_path / name).rglob("*.jsonl"))
        assert files
        return done.stdout, done.stderr, [each.read_bytes() for each in files]

    before = [each.received() for each in site.workers]
    assert run("remote", "--engine", f"dask:{site.address}") == run("local")
    # Both got the task of the cycle, which is 30 KB compressed at least.
    assert all(each.received() > was + 30_000 for each, was in zip(site.workers, before, strict=True))


def test_random_and_recorded_pools_are_decided_alike_over_the_network(site):
    tests = ("tests/engines/test_dask.py", "tests/conformance/test_engines.py")
    words = ("-q", "-x", "-p", "no:cacheprovider", "-k", "dask and recorded_cycles or random_pools")
    command = site.negotiator.command(
        "env",
        f"{ELSEWHERE}={site.address}",
        "NEGOTIATOR_POOLS=5",
        sys.executable,
        "-m",
        "pytest",
        *words,
        *tests,
    )
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIME, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert done.stdout.count(".") >= 10, done.stdout  # tests
