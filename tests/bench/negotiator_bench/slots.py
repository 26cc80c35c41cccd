"""Made slot ads in long form: a real one, of which 21 attributes are varied.

Slot ``i`` is the same ad in a pool of any size. Attributes of a host (eight slots each) are the same in its slots only
where the name of the host makes them so.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final

from negotiator_bench.templates import long_form, template

SlotText = Callable[[int], str]
"""Makes the ad of slot ``i``, counted from 0, in long form, each line with its end."""

SLOTS_OF_A_HOST: Final = 8
_BLOCK: Final = 64

_DROPPED: Final = frozenset({"PartitionableSlot", "SlotType", "NumDynamicSlots", "AddressV1"})
_VARIED: Final = frozenset(
    {
        *(
            "Name",
            "Machine",
            "MyAddress",
            "StartdIpAddr",
            "Memory",
            "TotalSlotMemory",
            "Cpus",
            "TotalSlotCpus",
        ),
        *(
            "Disk",
            "TotalSlotDisk",
            "Arch",
            "OpSysAndVer",
            "LoadAvg",
            "Mips",
            "KFlops",
            "SlotID",
            "TotalMemory",
        ),
        *("TotalCpus", "DetectedMemory", "DetectedCpus", "CpuModel", "Microarch", "GPUs"),
    }
)
_STATIC: Final = {
    "SlotType": '"Static"',
    "PartitionableSlot": "false",
    "State": '"Unclaimed"',
    "Activity": '"Idle"',
}
_MEMORY: Final = (2048, 4096, 8192, 16384, 32768, 65536, 131072)
_CPUS: Final = (1, 2, 4, 8, 16, 32, 64)
_GPUS: Final = (0, 0, 0, 0, 0, 0, 0, 1, 4)
_OF_CLAIMS: Final = 5_000_000  # clusters of jobs from here on run
_STEP: Final = 7919  # busy slots are spread over all hosts
_OPSYS: Final = ("Debian12", "CentOS7", "AlmaLinux9")


@cache
def fixed() -> dict[str, str]:
    """Return the attributes that all slots share: those of the real ad that are neither varied nor of its children."""
    shared = {
        name: value
        for name, value in template("slot.ad").items()
        if name not in _DROPPED and name not in _VARIED and not name.startswith("Child")
    }
    return shared | _STATIC


@cache
def _fixed_text() -> str:
    return long_form(fixed())


def varied(i: int) -> dict[str, str]:
    """Return the attributes of slot ``i`` that differ from slot to slot.

    ``GPUs`` counts, whatever the ``GPUS`` that all share: of two attributes of one name the later one does.
    """
    rng = random.Random(i)  # noqa: S311 - repeatable, not secret
    memory = rng.choice(_MEMORY)
    cpus = rng.choice(_CPUS)
    host, slot = f"wn{i // SLOTS_OF_A_HOST:05d}.example.org", i % SLOTS_OF_A_HOST + 1
    address = f'"<127.0.0.1:9?addrs=127.0.0.1-9&alias={host}&n={i}>"'
    return {
        "Name": f'"slot{slot}@{host}"',
        "Machine": f'"{host}"',
        "MyAddress": address,
        "StartdIpAddr": address,
        "SlotID": f"{slot}",
        "Memory": f"{memory}",
        "TotalSlotMemory": f"{memory}",
        "TotalMemory": f"{memory * 8}",
        "DetectedMemory": f"{memory * 8}",
        "Cpus": f"{cpus}",
        "TotalSlotCpus": f"{cpus}",
        "TotalCpus": f"{cpus * 8}",
        "DetectedCpus": f"{cpus * 8}",
        "Disk": f"{rng.randrange(10**7, 10**9)}",
        "TotalSlotDisk": f"{10**9}",
        "GPUs": f"{rng.choice(_GPUS)}",
        "Arch": f'"{"X86_64" if rng.random() < 0.9 else "AARCH64"}"',
        "OpSysAndVer": f'"{rng.choice(_OPSYS)}"',
        "LoadAvg": f"{rng.random():.3f}",
        "Mips": f"{rng.randrange(5000, 40000)}",
        "KFlops": f"{rng.randrange(10**5, 10**6)}",
        "Microarch": f'"x86_64-v{rng.randrange(1, 5)}"',
    }


def plain_slot(i: int) -> str:
    """Make slot ``i`` of a pool of static slots that are all of one kind: each attribute has one type everywhere."""
    return _fixed_text() + long_form(varied(i))


def busy_slot(i: int) -> str:
    """Make slot ``i`` of a pool of which four of five slots run jobs, whose ads the pool does not have."""
    user = f'"u{i % 6}@example.org"'
    claim = {
        "State": '"Claimed"',
        "Activity": '"Busy"',
        "RemoteUser": user,
        "RemoteOwner": user,
        "CurrentRank": "0.0",
        "JobId": f'"{_OF_CLAIMS + i}.0"',
        "GlobalJobId": f'"submit.example.org#{_OF_CLAIMS + i}.0#1795199259"',
    }
    return plain_slot(i) if i * _STEP % 5 == 0 else long_form(fixed() | varied(i) | claim)


def texts(make: SlotText, rows: Sequence[int]) -> Iterator[str]:
    """Make these slots as blocks of text, ads parted by a blank line, as a file of them would be read."""
    for start in range(0, len(rows), _BLOCK):
        yield "".join([f"{make(row)}\n" for row in rows[start : start + _BLOCK]])
