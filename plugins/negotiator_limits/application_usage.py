"""What is known of one application of a user."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.plugin import upwards


@attrs.define
class ApplicationUsage:
    """An application of a user: its group (empty for none), where it runs, and what it uses by leaf."""

    group: str
    running: set[str] = attrs.field(factory=set)
    usage: dict[str, dict[str, int]] = attrs.field(factory=dict)

    def note(self, leaf: str, usage: Mapping[str, int], sign: int) -> None:
        """Add to what it uses, or take away."""
        own = self.usage.get(leaf)
        if own is None:
            own = self.usage[leaf] = {}
        for name, amount in usage.items():
            own[name] = own.get(name, 0) + sign * amount

    def totals(self) -> dict[tuple[str, str], int]:
        """What it uses, by queue and resource: in its leaves, and in all queues above."""
        totals: dict[tuple[str, str], int] = {}
        for leaf, usage in self.usage.items():
            for path in upwards(leaf):
                for name, amount in usage.items():
                    totals[path, name] = totals.get((path, name), 0) + amount
        return totals
