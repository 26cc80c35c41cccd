"""A real HTCondor pool on loopback whose slots are made ads: its negotiator, and its ads as files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs

from condor_pool import CondorPool, PoolSettings, PoolUnavailableError, condor_pool
from negotiator_bench.errors import RealPoolError
from negotiator_bench.slots import plain_slot, texts

PORT: Final = 19718
#: condor_negotiator runs; made slots stay in the collector, and no limit of time ends a cycle.
_SETTINGS: Final = """DAEMON_LIST = MASTER COLLECTOR SCHEDD NEGOTIATOR
NEGOTIATOR_DEBUG = D_SUB_SECOND
SCHEDD_DEBUG =
CLASSAD_LIFETIME = 1000000
UPDATE_INTERVAL = 300
SCHEDD_INTERVAL = 5
NEGOTIATOR_INTERVAL = 4
NEGOTIATOR_CYCLE_DELAY = 0
NEGOTIATOR_MIN_INTERVAL = 0
NEGOTIATOR_UPDATE_AFTER_CYCLE = True
NEGOTIATOR_MAX_TIME_PER_SUBMITTER = 100000
NEGOTIATOR_MAX_TIME_PER_SCHEDD = 100000
NEGOTIATOR_MAX_TIME_PER_CYCLE = 100000
NEGOTIATOR_MAX_TIME_PER_PIESPIN = 100000
QUERY_TIMEOUT = 600
MAX_NEGOTIATOR_LOG = 100000000
"""

_PATIENCE: Final = 1800  # seconds for one cycle
_PAUSE: Final = 1.0
_CYCLES: Final = 3  # that a Negotiator ad describes
_CYCLE: Final = "LastNegotiationCycle"
_SUBMIT: Final = """executable = /bin/sleep
arguments = 1
transfer_executable = false
request_memory = $(mem)
request_disk = 1M
log = /dev/null
queue 2 mem from (
{})
"""
_FILES: Final = {
    "schedds.ads": ("condor_status", "-schedd", "-long"),
    "submitters.ads": ("condor_status", "-submitters", "-long"),
    "slots.ads": ("condor_status", "-long"),
    "jobs.ads": ("condor_q", "-allusers", "-long"),
}


@attrs.frozen
class RealCycle:
    """A cycle of condor_negotiator: seconds of its processor in each phase, and what it decided."""

    fetch: float
    sort: float  # of submitters and slots, and accounts
    negotiate: float
    matches: int
    rejections: int

    @property
    def whole(self) -> float:
        """Processor seconds of all phases."""
        return self.fetch + self.sort + self.negotiate


@attrs.frozen
class RealPool(CondorPool):
    """A running pool; ``advertised`` slots are in its collector."""

    advertised: list[int] = attrs.field(factory=lambda: [0])

    def advertise(self, slots: int) -> None:
        """Advertise made slots up to this number."""
        path = self.root / "tmp" / "bench.ads"
        path.write_text("".join(texts(plain_slot, range(self.advertised[0], slots))))
        options = ("-tcp", "-multiple", "-fake-private-ad", "UPDATE_STARTD_AD", "/tmp/bench.ads")  # noqa: S108 - in the root folder
        self.inside("run", "condor_advertise", *options)
        path.unlink()
        self.advertised[0] = slots

    def submit_classes(self, classes: int, *, fits: bool) -> None:
        """Submit two jobs of each class; with ``fits``, most slots have the memory that they request, else none has."""
        least = 1 if fits else 10_000_001
        memory = "".join(f"{least + number}\n" for number in range(classes))
        self.submit(_SUBMIT.format(memory))

    def cycle_since(self, begun: float) -> RealCycle:
        """Wait for the first cycle that began after a time (seconds since the epoch) and had jobs.

        :raises RealPoolError: there was none in half an hour.
        """
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            time.sleep(_PAUSE)
            found = cycles_of(self.inside("run", "condor_status", "-negotiator", "-long"), begun)
            if found:
                return found[-1]
        raise RealPoolError(f"condor_negotiator finished no cycle with jobs in {_PATIENCE} s")

    def write_ads(self, folder: Path) -> None:
        """Write the ads of the pool to files in long form, as HTCondor's tools print them."""
        for name, command in _FILES.items():
            (folder / name).write_text(self.inside("run", *command))


@contextmanager
def real_pool(settings: PoolSettings | None = None, port: int = 0) -> Iterator[RealPool]:
    """Start a pool, and stop it afterwards.

    :param settings: by default those of the benchmarks, with a negotiator.
    :param port: of the collector; 0 for one that is free.

    :raises RealPoolError: something is missing, or the pool does not start.
    """
    try:
        with condor_pool(settings or PoolSettings(more=_SETTINGS), port) as pool:
            yield RealPool(pool.master, pool.port)
    except PoolUnavailableError as error:
        raise RealPoolError(str(error)) from error


def cycles_of(ad: str, begun: float) -> list[RealCycle]:
    """Return the cycles with jobs since a time that a Negotiator ad in long form describes, the latest first."""
    values = dict(line.split(" = ", 1) for line in ad.splitlines() if " = " in line)

    def value(name: str, cycle: int) -> float:
        return float(values.get(f"{_CYCLE}{name}{cycle}", "0"))

    return [
        RealCycle(
            fetch=value("Phase1CpuTime", cycle),
            sort=value("Phase2CpuTime", cycle) + value("Phase3CpuTime", cycle),
            negotiate=value("Phase4CpuTime", cycle),
            matches=int(value("Matches", cycle)),
            rejections=int(value("Rejections", cycle)),
        )
        for cycle in range(_CYCLES)
        if value("Time", cycle) >= begun and value("Matches", cycle) + value("Rejections", cycle) > 0
    ]
