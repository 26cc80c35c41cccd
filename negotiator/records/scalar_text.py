"""A scalar of a file as text, with its place."""

from __future__ import annotations

import attrs

from negotiator.records.source import Source


@attrs.frozen
class ScalarText:
    """One scalar of a file as it is written, not interpreted; ``quoted`` if it is in quotes."""

    text: str
    source: Source = attrs.field(default=Source(""), eq=False)
    quoted: bool = attrs.field(default=False, eq=False)

    def __str__(self) -> str:
        return self.text
