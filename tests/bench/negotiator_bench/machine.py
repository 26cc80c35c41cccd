"""What a measurement stands on: one core, a clock, and the facts of the machine that belong beside the figures."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Final

import attrs

#: Seconds of processor time of this process: what else runs on the machine counts less than by the clock on the wall.
clock: Final = time.process_time

_LIBRARIES: Final = ("negotiator", "numpy", "attrs", "pcre2", "htcondor")
_STATM: Final = Path("/proc/self/statm")  # proc(5), on Linux only
_CPUINFO: Final = Path("/proc/cpuinfo")


@contextmanager
def one_core() -> Iterator[bool]:
    """Keep this process, and those it starts, on one core; gives False where the system cannot or will not."""
    if not hasattr(os, "sched_setaffinity"):
        yield False
        return
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(before)})
    except OSError:  # a sandbox may forbid it
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setaffinity(0, before)


def resident() -> int | None:
    """Return the bytes of memory that this process holds now, None where the system does not tell."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


@attrs.frozen
class Machine:
    """What tells machines apart, without the name of this one; libraries that are not installed have no version."""

    python: str
    implementation: str
    system: str
    processor: str
    cores: int | None
    one_core: bool
    libraries: Mapping[str, str | None]


def this_machine(*, one_core: bool) -> Machine:
    """Describe the machine that this process runs on, and whether it was kept on one core."""
    return Machine(
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        system=platform.system(),
        processor=_processor(),
        cores=os.cpu_count(),
        one_core=one_core,
        libraries={name: _version(name) for name in _LIBRARIES},
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = _CPUINFO.read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.machine()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()
