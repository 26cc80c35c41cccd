"""The environment of a measurement: one core, a clock, and the facts of the machine."""

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
    """Bind this process and its children to one core; return False if the system does not support it."""
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
    """Return the resident bytes of this process, None if the system does not provide them."""
    try:
        pages = int(_STATM.read_text("ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


@attrs.frozen
class Machine:
    """Facts that distinguish machines, without the host name; libraries that are not installed have no version."""

    python: str
    implementation: str
    system: str
    processor: str
    cores: int | None
    one_core: bool
    libraries: Mapping[str, str | None]


def this_machine(*, one_core: bool) -> Machine:
    """Return the facts of this machine, and whether the process is bound to one core."""
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
