"""A text that somebody wrote, with the place where it stands."""

from __future__ import annotations

import attrs

from negotiator.records.source import Source


@attrs.frozen
class ScalarText:
    """One scalar of a file as it is written there, whatever it may mean; ``quoted`` where quotes say it is a text."""

    text: str
    source: Source = attrs.field(default=Source(""), eq=False)
    quoted: bool = attrs.field(default=False, eq=False)

    def __str__(self) -> str:
        return self.text
