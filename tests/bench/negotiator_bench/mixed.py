"""Made slot ads whose columns mix kinds: as in pools of several administrators and versions.

Nothing here is an error of the ads: each value is legal, but a column may hold integers, reals, strings and
expressions side by side, and be absent in some rows; and the slots' own policies are many different texts.
"""

from __future__ import annotations

import random
from typing import Final

from negotiator_bench.slots import SLOTS_OF_A_HOST, fixed, varied
from negotiator_bench.templates import long_form

_REQUIREMENTS: Final = (
    "Start && WithinResourceLimits",
    "START && WithinResourceLimits",
    "(START) && (WithinResourceLimits) && (TARGET.JobUniverse == 5)",
    "WithinResourceLimits && Start && TARGET.RequestCpus > 0",
)
_START: Final = (
    "true",
    "true",
    "true",
    'TARGET.Owner =!= "mallory"',
    "LoadAvg < 0.9",
    "KeyboardIdle > 15 * 60 && LoadAvg <= 0.5",
    'TARGET.RequestMemory <= 8192 || stringListMember(TARGET.Owner,"alice,bob")',
    "ifThenElse(isUndefined(TARGET.RequestGPUs),true,GPUs > 0)",
)
#: Every so many hosts, one has a START of its own, with a number of its own.
_OWN_START: Final = 40


def mixed_slot(i: int) -> str:
    """Make slot ``i`` of a pool whose columns mix kinds; the numbers behind them are those of ``plain_slot``."""
    rng = random.Random(f"mixed {i}")  # noqa: S311 - repeatable, not secret
    host = random.Random(f"host {i // SLOTS_OF_A_HOST}")  # noqa: S311
    ad = fixed() | varied(i)
    _memory(ad, rng.random())
    _others(ad, rng)
    ad["Requirements"] = host.choice(_REQUIREMENTS)
    ad["Start"] = host.choice(_START)
    if host.randrange(_OWN_START) == 0:
        ad["Start"] = f"TARGET.RequestMemory < {host.randrange(2000, 200_000)}"
    return long_form(ad)


def _memory(ad: dict[str, str], place: float) -> None:
    """Give Memory as an integer in most slots, else as a real, an expression, a string, or not at all."""
    if place < 0.70:
        return
    if place < 0.83:
        ad["Memory"] += ".0"
    elif place < 0.93:
        ad["Memory"] = "TotalMemory / 8"
    elif place < 0.96:
        ad["Memory"] = f'"{ad["Memory"]}"'
    else:
        del ad["Memory"]


def _others(ad: dict[str, str], rng: random.Random) -> None:
    """Vary what jobs ask for beside memory, each in its own way."""
    if rng.random() < 0.10:
        ad["Disk"] += ".5"
    if rng.random() < 0.15:
        ad["Cpus"] = "TotalSlotCpus - 0"
    if rng.random() < 0.50:
        del ad["GPUs"], ad["GPUS"]
    if rng.random() < 0.03:
        del ad["Arch"]
    if rng.random() < 0.05:
        ad["OpSysAndVer"] = "undefined"
    if rng.random() < 0.05:
        ad["HasFileTransfer"] = rng.choice(("1", "false", '"yes"', "undefined"))
    if rng.random() < 0.05:
        ad["Mips"] = rng.choice(("12000.5", "KFlops / 40", "error"))
    if rng.random() < 0.02:
        del ad["KFlops"]
