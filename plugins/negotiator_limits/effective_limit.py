"""A limit of a queue as it holds for one name."""

from __future__ import annotations

import attrs

from negotiator.plugin import Mode, QueueLimit, Resources, Source, SubjectKind


@attrs.frozen
class EffectiveLimit:
    """A limit, the queue it is configured for, and the name it is listed under, which may be the wildcard."""

    kind: SubjectKind
    name: str
    queue: str
    limit: QueueLimit
    mode: Mode = Mode.ENFORCE

    @property
    def resources(self) -> Resources:
        """The maximum of each resource; resources that are missing are unlimited."""
        return self.limit.resources

    @property
    def applications(self) -> int:
        """The maximum of running applications; 0 is unlimited."""
        return self.limit.applications

    @property
    def source(self) -> Source:
        """The file and line of the limit."""
        return self.limit.source

    def __str__(self) -> str:
        """``limit of user * at root.a``."""
        return f"limit of {self.kind} {self.name} at {self.queue}"
