"""``make bench-network``: cycles on a Dask worker of another host, by the delay of the network between them."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

import click

from negotiator.classad import Table
from negotiator.cli.render import print_table, printable
from negotiator.pool.snapshot import Snapshot
from negotiator_bench import ours
from negotiator_bench.command import NOT_MEASURED
from negotiator_bench.errors import BenchError
from negotiator_bench.inputs import SLOTS
from negotiator_bench.options import numbers
from negotiator_bench.requests import request_texts
from negotiator_bench.scale_cycle import JOBS, measure_cycle
from negotiator_bench.slots import texts

_PATIENCE: Final = 300.0  # seconds for a cycle


@click.command(short_help="Measure cycles over a network with a delay.")
@click.option("--slots", default=5_000, type=click.IntRange(1), show_default=True)
@click.option("--classes", default=500, type=click.IntRange(1), help=f"{JOBS} jobs each.", show_default=True)
@click.option("--delays", default="1,10,50", callback=numbers, help="Milliseconds in each direction.")
@click.option("--rounds", default=8, type=click.IntRange(1), show_default=True)
def network(slots: int, classes: int, delays: tuple[int, ...], rounds: int) -> None:
    """Measure cycles (run_cycle under the default bundle, cold caches) on a Dask worker of another host.

    Packets between the negotiator and the others take some milliseconds longer. Hosts are network namespaces: it needs root.

    \b
    Exit codes:
      0  measured
      2  the command line is wrong
      4  something could not be measured
    """
    try:
        seconds = _measured(slots, classes, (0, *delays), rounds)
    except BenchError as error:
        click.echo(f"error: {printable(str(error))}", err=True)
        sys.exit(NOT_MEASURED)
    base = statistics.median(seconds["dask, 0 ms"])
    rows = [
        (name, f"{statistics.median(each):.2f}", f"{min(each):.2f}", f"{statistics.median(each) / base:.2f}")
        for name, each in seconds.items()
    ]
    title = f"Seconds of a cycle over {slots:,} slots and {classes:,} classes of {JOBS} jobs, by the clock"
    print_table(title, ("engine", "median s", "shortest s", "ratio"), rows, right=(1, 2, 3))


def _measured(slots: int, classes: int, delays: tuple[int, ...], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each cycle by the clock: all engines in turn, once a round.

    :raises BenchError: there is no such network, or a cycle failed.
    """
    from dask_site import dask_site  # noqa: PLC0415 - tests/support, as scale_cycle has it
    from network_hosts import NoNetworkError  # noqa: PLC0415

    nobody, seconds = Table.from_ads(()), dict[str, list[float]]()
    pool = Snapshot(
        schedds=nobody,
        submitters=nobody,
        slots=ours.read(texts(SLOTS["mixed"], range(slots))),
        jobs=ours.read(request_texts(classes, JOBS)),
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pool")
        file.write_bytes(pool.encode())
        try:
            with dask_site(folder, workers=1) as site:
                for _ in range(rounds):
                    for delay in (None, *delays):
                        engine, name = "local", "local"
                        if delay is not None:
                            engine, name = f"dask:{site.address}", f"dask, {delay} ms"
                            site.negotiator.disturb(delay=delay / 1000)
                        found = measure_cycle(file, engine, _PATIENCE, site.negotiator.command)
                        seconds.setdefault(name, []).append(found.seconds)
        except NoNetworkError as error:
            raise BenchError(str(error)) from None
    return seconds


if __name__ == "__main__":
    network(prog_name="python -m negotiator_bench.network")
