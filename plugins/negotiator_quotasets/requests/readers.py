"""What the rules read of requests, apart for each mode."""

from __future__ import annotations

import attrs

from negotiator_quotasets.requests.reader import RequestReader
from negotiator_quotasets.settings import QuotaSettings, SetsOfMode


@attrs.frozen(eq=False)
class RequestReaders:
    """What the sets of each mode read of requests."""

    settings: QuotaSettings
    parts: tuple[tuple[SetsOfMode, RequestReader], ...]

    @classmethod
    def of(cls, settings: QuotaSettings) -> RequestReaders:
        """Return a reader for each mode whose sets, or declared capacities, limit something."""
        parts = ((each, RequestReader(settings, each.sets)) for each in settings.by_mode)
        return cls(settings, tuple((part, reader) for part, reader in parts if reader.active))

    def attributes(self) -> frozenset[str]:
        """Return the attributes of jobs that are read, in lower case."""
        return frozenset().union(*(reader.attributes() for _, reader in self.parts))
