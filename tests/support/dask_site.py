"""A Dask cluster on several hosts of a network, and a host for the negotiator."""

import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs

from network_hosts import Host, network
from processes import LongProgram

DASK = Path(sys.executable).with_name("dask")


@attrs.define
class DaskSite:
    """The hosts, and the address of the scheduler."""

    scheduler: Host
    workers: list[Host]
    negotiator: Host
    address: str


@contextmanager
def dask_site(folder, workers=2):
    """Start a cluster with a worker on each of several hosts; frames from and to the negotiator's pass a wire that can be disturbed.

    :raises NoNetworkError: this machine cannot have such a network.
    """
    with ExitStack() as stack:
        made = stack.enter_context(network())
        scheduler, *others = (made.host() for _ in range(1 + workers))
        address = f"tcp://{scheduler.address}:8786"

        def start(host, *words):
            command = host.command(DASK, *words, "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
            return stack.enter_context(LongProgram(command, folder))

        start(scheduler, "scheduler", "--host", address).wait_for("Scheduler at:")
        for each in [
            start(host, "worker", address, "--nthreads", 1, "--host", host.address) for host in others
        ]:
            each.wait_for("Registered to")
        yield DaskSite(scheduler, others, made.host(wired=True), address)
