"""The spelling of an attribute's name in the lines of a pool's ads, and how many of its lines are remembered."""

from __future__ import annotations

from typing import Final

from negotiator.classad.tables.distinct_values import DistinctValues

MAX_LINES_EACH: Final = 4096
"""Lines remembered of one attribute: one with more values has a new one in most ads."""

EQUALS: Final = " = "
"""Between the name and the value of a line as HTCondor prints it."""


class AttributeSpelling:
    """The spelling of an attribute's name.

    ``base`` is its number, shifted to the upper half of a cell; ``entries`` are the distinct values of the attribute;
    ``lines`` counts the lines with this name that the dictionary remembers.
    """

    __slots__ = ("base", "entries", "lines", "name")

    def __init__(self, name: str, base: int, entries: DistinctValues) -> None:
        self.name = name
        self.base = base
        self.entries = entries
        self.lines = 0

    @property
    def remembers_lines(self) -> bool:
        """True if further lines with this name are remembered."""
        return self.lines < MAX_LINES_EACH

    def stop_remembering(self) -> None:
        """Remember no further lines with this name: most have a new value."""
        self.lines = MAX_LINES_EACH

    @property
    def prefix(self) -> str:
        """What a line of this attribute as HTCondor prints it begins with: all but the value."""
        return self.name + EQUALS
