"""Results of measurements: single values, their medians, and targets."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from statistics import median

import attrs


class Area(enum.StrEnum):
    """What can be measured by itself."""

    MATCHING = "matching"
    RANKING = "ranking"
    SCALAR = "scalar"
    COLUMNS = "columns"
    READING = "reading"
    MEMORY = "memory"
    PLACING = "placing"
    SWAPPING = "swapping"
    ADMISSION = "admission"
    CHARGING = "charging"
    QUOTAS = "quotas"
    CYCLE = "cycle"
    SHARING = "sharing"
    HOSTILE = "hostile"
    START = "start"


@attrs.frozen
class SpeedTarget:
    """A target: one bound, on the median of the ratios or on our own median."""

    of: str  # "ratio" or "ours"
    at_least: float | None = None
    at_most: float | None = None

    def met_by(self, value: float) -> bool:
        """True if a value is within the bound."""
        if self.at_least is not None and value < self.at_least:
            return False
        return self.at_most is None or value <= self.at_most


@attrs.frozen
class Figure:
    """One measurement, repeated: ours and the library's in turn, in one run.

    ``theirs`` is empty if the library was not measured. ``ratios`` are ours divided by theirs, value by value.
    """

    area: Area
    what: str
    unit: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...] = ()
    target: SpeedTarget | None = None
    facts: Mapping[str, object] = attrs.field(factory=dict)

    @property
    def ratios(self) -> tuple[float, ...]:
        """Ours by theirs, of each repetition."""
        if not self.theirs:
            return ()
        return tuple(ours / theirs for ours, theirs in zip(self.ours, self.theirs, strict=True))

    @property
    def ratio(self) -> float | None:
        """The median of the ratios."""
        return median(self.ratios) if self.theirs else None

    @property
    def met(self) -> bool | None:
        """True if the target was reached; None without a target, or if its value was not measured."""
        if self.target is None:
            return None
        value = self.ratio if self.target.of == "ratio" else median(self.ours)
        return None if value is None else self.target.met_by(value)

    def as_json(self) -> dict[str, object]:
        """Return the figure as JSON values."""
        return {
            "area": str(self.area),
            "what": self.what,
            "unit": self.unit,
            "ours": median(self.ours),
            "theirs": median(self.theirs) if self.theirs else None,
            "ratio": self.ratio,
            "ours_each": list(self.ours),
            "theirs_each": list(self.theirs),
            "ratios": list(self.ratios),
            "target": attrs.asdict(self.target) if self.target else None,
            "met": self.met,
            "facts": dict(self.facts),
        }


@attrs.frozen
class Measured:
    """Figures, and every case in which ours and the library's answers differ: such figures are worth nothing."""

    figures: tuple[Figure, ...]
    disagreements: tuple[str, ...] = ()
