"""A real HTCondor pool on loopback whose slots are made ads: its negotiator, and its ads as files.

It needs root, a root folder with the package ``condor`` (``NEGOTIATOR_CONDOR_ROOT``) and the folder with the scripts that
start a pool in it (``NEGOTIATOR_SHARED``).
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import attrs

from negotiator_bench.errors import RealPoolError
from negotiator_bench.slots import plain_slot, texts

PORT: Final = 19718
_ROOT: Final = "NEGOTIATOR_CONDOR_ROOT"
_SHARED: Final = "NEGOTIATOR_SHARED"
_SCRIPT: Final = Path("condor", "pool", "pool.sh")
_SETTINGS: Final = Path("condor", "bench", "negotiator.conf")
_NEGOTIATOR: Final = Path("usr", "sbin", "condor_negotiator")
_PID: Final = Path("pool", "unshare.pid")

_PATIENCE: Final = 1800  # seconds for one command, or for one cycle
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


def missing(environment: Mapping[str, str], user: int) -> tuple[str, ...]:
    """Return what a real pool needs and is not there, one sentence each, with what to do.

    :param user: the effective user id of this process.
    """
    found = []
    if user != 0:
        found.append("a real pool is started by root: run this as root")
    root, shared = environment.get(_ROOT, ""), environment.get(_SHARED, "")
    if not root or not Path(root, _NEGOTIATOR).exists():
        text = f"no HTCondor in {root!r}" if root else "no HTCondor"
        found.append(f"{text}: set {_ROOT} to a root folder with {_NEGOTIATOR} (pool.sh build makes one)")
    elif Path(root, _PID).exists():
        found.append(f"a pool runs in {root} already: stop it (pool.sh down)")
    if not shared or not Path(shared, _SCRIPT).is_file() or not Path(shared, _SETTINGS).is_file():
        found.append(f"no scripts to start a pool: set {_SHARED} to a folder with {_SCRIPT} and {_SETTINGS}")
    return tuple(found)


@attrs.frozen
class RealPool:
    """A running pool; ``advertised`` slots are in its collector."""

    root: Path
    script: Path
    advertised: list[int] = attrs.field(factory=lambda: [0])

    def advertise(self, slots: int) -> None:
        """Advertise made slots up to this number."""
        path = self.root / "tmp" / "bench.ads"
        path.write_text("".join(texts(plain_slot, range(self.advertised[0], slots))))
        options = ("-tcp", "-multiple", "-fake-private-ad", "UPDATE_STARTD_AD", "/tmp/bench.ads")  # noqa: S108 - in the root folder
        self.inside("run", "condor_advertise", *options)
        path.unlink()
        self.advertised[0] = slots

    def submit(self, classes: int, *, fits: bool) -> None:
        """Submit two jobs of each class; with ``fits``, most slots have the memory that they request, else none has."""
        least = 1 if fits else 10_000_001
        memory = "".join(f"{least + number}\n" for number in range(classes))
        path = self.root / "tmp" / "bench.sub"
        path.write_text(_SUBMIT.format(memory))
        self.inside("user", "condor_submit", "-terse", "/tmp/bench.sub")  # noqa: S108
        path.unlink()

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

    def remove_jobs(self) -> None:
        """Remove all jobs."""
        self.inside("run", "condor_rm", "-all", check=False)
        self.inside("run", "condor_rm", "-forcex", "-all", check=False)

    def version(self) -> str:
        """Return the version of HTCondor."""
        return self.inside("run", "condor_version").split()[1]

    def inside(self, who: str, *command: str, check: bool = True) -> str:
        """Run a command in the root folder as root (``run``) or as an ordinary user (``user``); return what it prints.

        :raises RealPoolError: it fails, unless ``check`` is False.
        """
        return _script(self.script, who, str(self.root), *command, check=check)


@contextmanager
def real_pool(
    environment: Mapping[str, str], port: int, mode: str = "open", settings: Path | None = None
) -> Iterator[RealPool]:
    """Start a pool whose collector has this port, and stop it afterwards.

    :param mode: ``open`` or ``secure``, the configuration of the script that starts pools.
    :param settings: a file of further configuration; by default that of the benchmarks, with a negotiator.

    :raises RealPoolError: something is missing, or the pool does not start.
    """
    if lacking := missing(environment, os.geteuid()):
        raise RealPoolError("; ".join(lacking))
    root, shared = Path(environment[_ROOT]).absolute(), Path(environment[_SHARED]).absolute()
    pool = RealPool(root, shared / _SCRIPT)
    try:
        _script(pool.script, "up", str(root), mode, str(port), str(settings or shared / _SETTINGS))
        pool.remove_jobs()
        yield pool
    finally:
        if (root / _PID).exists():
            pool.remove_jobs()
            _script(pool.script, "down", str(root), check=False)


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


def _script(script: Path, *arguments: str, check: bool = True) -> str:
    command = [str(script), *arguments]
    try:
        done = subprocess.run(  # noqa: S603 - the script that the caller chose
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RealPoolError(f"{' '.join(arguments)}: {error}") from error
    if check and done.returncode != 0:
        words = (done.stderr or done.stdout).strip()[-300:]
        raise RealPoolError(f"{' '.join(arguments)}: exit code {done.returncode}: {words}")
    return done.stdout
