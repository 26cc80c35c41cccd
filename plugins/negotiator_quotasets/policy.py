"""What is computed once: what the rule sets of each mode read of requests, and their rules over the slots of a cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import attrs

from negotiator_quotasets.requests import RequestReader
from negotiator_quotasets.settings import QuotaSettings, SetsOfMode

if TYPE_CHECKING:
    from negotiator.plugin import Cycle, Table
    from negotiator_quotasets.pool import RulesByMode


@attrs.frozen(eq=False)
class QuotaPolicy:
    """The sets of each mode, with what they read of requests."""

    settings: QuotaSettings
    parts: tuple[tuple[SetsOfMode, RequestReader], ...]

    @classmethod
    def of(cls, settings: QuotaSettings) -> Self:
        """Return a reader for each mode whose sets, or declared capacities, limit something."""
        parts = ((each, RequestReader(settings, each.sets)) for each in settings.by_mode)
        return cls(settings, tuple((part, reader) for part, reader in parts if reader.active))

    def attributes(self) -> frozenset[str]:
        """Return the attributes of jobs that are read, in lower case."""
        return frozenset().union(*(reader.attributes() for _, reader in self.parts))

    def begin_cycle(self, slots: Table, cycle: Cycle) -> RulesByMode:
        """Return the rules over the slots of a cycle."""
        from negotiator_quotasets.pool import rules_by_mode  # noqa: PLC0415 - imports NumPy

        return rules_by_mode(self.settings, self.parts, slots, cycle.environment)
