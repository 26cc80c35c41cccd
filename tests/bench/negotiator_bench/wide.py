"""Made slot ads of 165 attributes, 40 of which differ from slot to slot: what an update of a whole pool looks like.

Of the 40, 24 are integers, 4 reals and 12 strings; 5 strings differ from slot to slot, 3 from host to host, and 4
have a handful of values.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Final

from negotiator_bench.slots import SLOTS_OF_A_HOST, fixed, varied
from negotiator_bench.templates import long_form

ATTRIBUTES: Final = 165
INTEGERS: Final = (
    *("SlotID", "Memory", "TotalSlotMemory", "TotalMemory", "DetectedMemory", "Cpus", "TotalSlotCpus"),
    *("TotalCpus", "DetectedCpus", "Disk", "GPUs", "Mips", "KFlops", "DaemonStartTime", "LastHeardFrom"),
    *("EnteredCurrentActivity", "EnteredCurrentState", "MyCurrentTime", "KeyboardIdle", "ConsoleIdle"),
    *("JobStarts", "MonitorSelfImageSize", "TotalTimeUnclaimedIdle", "VirtualMemory"),
)
REALS: Final = ("LoadAvg", "TotalLoadAvg", "CondorLoadAvg", "DaemonCoreDutyCycle")
STRINGS: Final = (
    *("Name", "MyAddress", "StartdIpAddr", "UpdatesHistory", "ExecuteVolume"),
    *("Machine", "UtsnameNodename", "HardwareAddress"),
    *("Arch", "OpSysAndVer", "Microarch", "UtsnameRelease"),
)
DIFFERING: Final = (*INTEGERS, *REALS, *STRINGS)

_SPARE: Final = (
    *("OpSysLegacy", "OpSysShortName", "WakeOnLanEnabledFlags", "WakeOnLanSupportedFlags", "SubnetMask"),
    *("UtsnameSysname", "HibernationSupportedStates", "GPUS"),
)


@cache
def _constant() -> dict[str, str]:
    """Return what all slots share, and a place for what they do not, sorted by name as HTCondor prints ads."""
    shared = {name: value for name, value in fixed().items() if name not in _SPARE} | dict.fromkeys(
        DIFFERING, ""
    )
    shared["TotalSlotDisk"] = f"{10**9}"
    return {name: shared[name] for name in sorted(shared, key=str.lower)}


def wide_slot(i: int) -> str:
    """Make slot ``i`` of this pool."""
    rng = random.Random(f"wide {i}")  # noqa: S311 - repeatable, not secret
    host = i // SLOTS_OF_A_HOST
    ad = varied(i)
    started = 1_795_000_000 + host * 97 % 100_000
    now = started + 200_000 + rng.randrange(300)
    ad |= {
        "DaemonStartTime": f"{started}",
        "LastHeardFrom": f"{now}",
        "EnteredCurrentActivity": f"{started + rng.randrange(200_000)}",
        "EnteredCurrentState": f"{started + rng.randrange(200_000)}",
        "MyCurrentTime": f"{now - 1}",
        "KeyboardIdle": f"{rng.randrange(10**6)}",
        "ConsoleIdle": f"{rng.randrange(10**6)}",
        "JobStarts": f"{rng.randrange(5000)}",
        "MonitorSelfImageSize": f"{rng.randrange(20_000, 60_000)}",
        "TotalTimeUnclaimedIdle": f"{rng.randrange(10**6)}",
        "VirtualMemory": f"{rng.randrange(10**6, 10**9)}",
        "TotalLoadAvg": f"{rng.random() * 64:.2f}",
        "CondorLoadAvg": f"{rng.random():.6f}",
        "DaemonCoreDutyCycle": f"{rng.random() / 100!r}",
        "UpdatesHistory": f'"{rng.getrandbits(128):032x}"',
        "ExecuteVolume": f'"{rng.randrange(10**9)}"',
        "UtsnameNodename": ad["Machine"],
        "HardwareAddress": f'"02:00:{host >> 24 & 255:02x}:{host >> 16 & 255:02x}:{host >> 8 & 255:02x}:{host & 255:02x}"',
        "UtsnameRelease": f'"6.{rng.randrange(1, 12)}.0-amd64"',
    }
    return long_form(_constant() | ad)
