"""``make bench-service``: cycles while others read pages, and the time of pages of many queues."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Final
from urllib.parse import urlsplit

import attrs
import click

from negotiator.cli.render import print_table, printable
from negotiator_bench.command import NOT_MEASURED
from negotiator_bench.errors import BenchError, ProcessFailedError
from negotiator_bench.figures import SpeedTarget
from negotiator_bench.machine import this_machine
from negotiator_bench.readers import ReadingPlan, Readings, reading
from negotiator_bench.service_pool import ServedPool, pool_with_queues, served, web_alone
from negotiator_bench.slow_clients import SlowClients, slow_clients

#: With 200 readers that request something once a second, for 5,000 slots, 2,000 jobs and 2,000 queues.
SLOWER: Final = SpeedTarget("ratio", at_most=1.1)
PAGE: Final = SpeedTarget("ours", at_most=0.1)

PAGES: Final = (
    "/pool",
    "/pool/queues",
    "/pool/queues/root",
    "/pool/usage",
    "/pool/hosts",
    "/pool/applications",
)
_PARTITION: Final = "/ws/v1/partition/default"
#: What browsers and YuniKorn's web UI request.
PATHS: Final = (
    *PAGES,
    *("/ws/v1/clusters", "/ws/v1/partitions", f"{_PARTITION}/queues", f"{_PARTITION}/nodes"),
    *(
        "/ws/v1/scheduler/healthcheck",
        "/ws/v1/scheduler/node-utilizations",
        "/ws/v1/history/apps",
        "/metrics",
    ),
)
_REPETITIONS: Final = 25
_OK: Final = 200


@attrs.frozen
class Load:
    """Readers and the seconds between two requests of one, 0 for none; and slow clients beside them."""

    readers: int
    pause: float
    slow: SlowClients | None = None

    def __str__(self) -> str:
        if self.slow is not None:
            return f"the same, and {self.slow}"
        how = f"one request in {self.pause:g} s each" if self.pause else "without a pause"
        return f"{self.readers} readers, {how}"


@attrs.define(eq=False)
class Slowing:
    """Seconds of cycles with a load and those just before without it, by round; and what the readers got."""

    load: Load
    alone: list[float] = attrs.field(factory=list)
    loaded: list[float] = attrs.field(factory=list)
    readings: list[Readings] = attrs.field(factory=list)

    @property
    def ratio(self) -> float:
        """How many times as long a cycle takes: the median over the rounds."""
        return median(loaded / alone for alone, loaded in zip(self.alone, self.loaded, strict=True))


def page_seconds(address: str) -> list[tuple[str, float]]:
    """Return the seconds of each page, made for the request: those with a query are not kept."""
    url = urlsplit(address)
    connection = HTTPConnection(url.hostname or "", url.port, timeout=60)
    seconds: dict[str, list[float]] = {path: [] for path in PAGES}
    try:
        for number in range(_REPETITIONS):
            for path, found in seconds.items():
                begun = time.perf_counter()
                connection.request("GET", f"{path}?number={number}")
                answer = connection.getresponse()
                answer.read()
                found.append(time.perf_counter() - begun)
                if answer.status != _OK:
                    raise ProcessFailedError(f"{path} was answered with {answer.status}")
    finally:
        connection.close()
    return [(path, median(found)) for path, found in seconds.items()]


def slowing(pool: ServedPool, loads: list[Load], rounds: int, seconds: float) -> list[Slowing]:
    """Measure cycles with each load, in turn with cycles without any."""
    found = [Slowing(load) for load in loads]
    for _ in range(rounds):
        for each in found:
            each.alone.append(median(pool.cycles_in(seconds)))
            plan = ReadingPlan(pool.address, PATHS, each.load.readers, each.load.pause)
            with ExitStack() as clients:
                if each.load.slow is not None:
                    clients.enter_context(slow_clients(pool.address, each.load.slow))
                readings = clients.enter_context(reading(plan))
                each.loaded.append(median(pool.cycles_in(seconds)))
            each.readings += readings
    return found


@click.command(short_help="Measure cycles while others read, and pages of many queues.")
@click.option("--slots", default=5_000, type=click.IntRange(1), show_default=True)
@click.option("--jobs", default=2_000, type=click.IntRange(10), help="Job ads.", show_default=True)
@click.option("--queues", default=2_000, type=click.IntRange(50), show_default=True)
@click.option("--readers", default=200, type=click.IntRange(1), show_default=True)
@click.option("--rounds", default=5, type=click.IntRange(1), help="Of all loads.", show_default=True)
@click.option("--seconds", default=10.0, type=click.FloatRange(0.1), help="Of each load.", show_default=True)
def service(slots: int, jobs: int, queues: int, readers: int, rounds: int, seconds: float) -> None:
    """Measure cycles of negotiator serve while others read pages and answers, and pages that are made anew.

    Cycles with and without readers are measured in turn, by the clock: readers and the process that answers them use the same
    cores. The process of the readers is a part of the load. Slow clients (five times as many as readers send nothing, others a
    byte now and then, or do not take their answers) connect again whenever the service ends their connections.

    \b
    Exit codes:
      0  measured
      2  the command line is wrong
      4  something could not be measured
    """
    slow = SlowClients(silent=readers * 5, dribbling=readers // 2, deaf=readers // 10)
    loads = [Load(readers, 1.0), Load(readers, 1.0, slow), Load(readers, 0.0)]
    try:
        with tempfile.TemporaryDirectory() as name:
            with served(pool_with_queues(slots, jobs, queues), Path(name)) as pool:
                found = slowing(pool, loads, rounds, seconds)
            with web_alone(Path(name)) as address:
                pages = page_seconds(address)
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    machine = this_machine(one_core=False)
    click.echo(
        printable(f"{machine.implementation} {machine.python}, {machine.cores} cores, {machine.processor}")
    )
    judged = (slots, jobs, queues, readers) == (5_000, 2_000, 2_000, 200)
    _print_pages(pages, judged=judged)
    _print_slowing(found, judged=judged)


def _print_pages(pages: list[tuple[str, float]], *, judged: bool) -> None:
    rows = [
        (path, f"{seconds * 1000:.0f} ms", _verdict(PAGE, seconds, judged=judged)) for path, seconds in pages
    ]
    print_table("Pages made anew", ("PAGE", "TIME", "TARGET 100 ms"), rows, right=(1,))


def _print_slowing(found: list[Slowing], *, judged: bool) -> None:
    rows = [
        (
            str(each.load),
            f"{median(each.alone):.3f} s",
            f"{median(each.loaded):.3f} s",
            f"{each.ratio:.2f}x",
            _verdict(SLOWER, each.ratio, judged=judged and each.load.pause > 0),
        )
        for each in found
    ]
    headers = ("LOAD", "CYCLE ALONE", "WITH READERS", "RATIO", "TARGET 1.1x")
    print_table("Cycles while others read", headers, rows, right=(1, 2, 3))
    answers = [
        (
            str(each.load),
            f"{median(one.rate for one in each.readings):.0f}",
            f"{median(one.megabytes for one in each.readings):.1f} MB",
            f"{median(one.median for one in each.readings) * 1000:.0f} ms",
            f"{median(one.slowest for one in each.readings) * 1000:.0f} ms",
            f"{sum(one.failures for one in each.readings)}",
        )
        for each in found
    ]
    headers_of_answers = ("LOAD", "ANSWERS/S", "BYTES/S", "MEDIAN", "99 IN 100", "FAILED")
    print_table("What readers get", headers_of_answers, answers, right=(1, 2, 3, 4, 5))


def _verdict(target: SpeedTarget, value: float, *, judged: bool) -> str:
    if not judged:
        return ""
    return "met" if target.met_by(value) else "missed"


if __name__ == "__main__":
    service(prog_name="python -m negotiator_bench.service")
