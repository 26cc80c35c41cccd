"""The inputs by name, as both sides of a measurement ask for them, and what they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from negotiator_bench.jobs import CLASSES, job_class
from negotiator_bench.kinds import KINDS, slot_of_a_kind
from negotiator_bench.mixed import mixed_slot
from negotiator_bench.slots import SlotText, busy_slot, plain_slot
from negotiator_bench.wide import DIFFERING, INTEGERS, REALS, STRINGS, wide_slot

#: So many ads are looked through to say what an input is made of.
_SAMPLE: Final = 1000

SLOTS: Final[Mapping[str, SlotText]] = MappingProxyType(
    {"plain": plain_slot, "busy": busy_slot, "mixed": mixed_slot, "kinds": slot_of_a_kind, "wide": wide_slot}
)


@attrs.frozen
class Composition:
    """What a kind of made ad is made of, counted over the first thousand of them.

    ``differing`` attributes do not have the same text everywhere, absence counted as a text; ``mostly_unique`` of
    them have another text in more than half of the ads.
    """

    ads: int
    bytes: int  # of an ad, on average
    attributes: int  # of an ad, on average, repeated names counted once
    differing: int
    mostly_unique: int
    notes: str


_NOTES: Final = {
    "plain": "one real slot ad, 21 attributes varied; each column has one type",
    "busy": "as plain, four of five slots run jobs whose ads the pool does not have",
    "mixed": "as plain, with columns of several kinds, absences, and several Requirements and START",
    "kinds": f"as plain, with {KINDS} START of four shapes that differ in their constants, by host",
    "wide": (
        f"{len(DIFFERING)} attributes differ from slot to slot: {len(INTEGERS)} integers, {len(REALS)} reals, {len(STRINGS)} strings"
    ),
    "jobs": f"{CLASSES} job classes as condor_submit writes them, no two alike",
}


def compositions() -> dict[str, Composition]:
    """Return the composition of each input."""
    made = {name: [make(row) for row in range(_SAMPLE)] for name, make in SLOTS.items()}
    made["jobs"] = [job_class(k) for k in range(CLASSES)]
    return {name: _composition(texts, _NOTES[name]) for name, texts in made.items()}


def _composition(texts: list[str], notes: str) -> Composition:
    values: dict[str, set[str]] = {}
    filled: dict[str, int] = {}
    attributes = 0
    for text in texts:
        ad = {name.lower(): value for name, _, value in (line.partition(" = ") for line in text.splitlines())}
        attributes += len(ad)
        for name, value in ad.items():
            values.setdefault(name, set()).add(value)
            filled[name] = filled.get(name, 0) + 1
    differing = [name for name, found in values.items() if len(found) > 1 or filled[name] < len(texts)]
    return Composition(
        ads=len(texts),
        bytes=round(sum(map(len, texts)) / len(texts)),
        attributes=round(attributes / len(texts)),
        differing=len(differing),
        mostly_unique=sum(len(values[name]) > len(texts) / 2 for name in differing),
        notes=notes,
    )
