"""A user or a group in one queue: its counters, and the quota of each, made once for all requests that are charged."""

from __future__ import annotations

from functools import cached_property

import attrs

from negotiator.plugin import CounterKey, Mode, Quota, SubjectKind
from negotiator_limits.effective_limit import EffectiveLimit
from negotiator_limits.keys import applications_key, resource_key

_MAX_RULE = 200  # characters; users and groups name themselves


@attrs.frozen(eq=False)
class LimitedCounter:
    """A counter, the ``most`` that is allowed on it (None: unlimited), and the quota of its charges."""

    counter: CounterKey
    most: int | None
    quota: Quota


@attrs.frozen(eq=False)
class LimitedLevel:
    """A user or a group in one queue, and its limit there."""

    kind: SubjectKind
    name: str
    queue: str
    limit: EffectiveLimit | None
    _sums: dict[str, LimitedCounter] = attrs.field(factory=dict, init=False)

    def of(self, resource: str) -> LimitedCounter:
        """Return the counter of a resource."""
        found = self._sums.get(resource)
        if found is None:
            most = self.limit.resources.get(resource) if self.limit else None
            key = resource_key(self.kind, self.name, self.queue, resource)
            found = self._sums[resource] = LimitedCounter(key, most, self._quota(most, resource))
        return found

    @cached_property
    def of_applications(self) -> LimitedCounter:
        """The counter of running applications."""
        most = (self.limit.applications or None) if self.limit else None
        return LimitedCounter(applications_key(self.kind, self.name, self.queue), most, self._quota(most))

    def _quota(self, most: int | None, resource: str = "") -> Quota:
        """Return the quota of a resource, or of the running applications, of which ``most`` are allowed."""
        kind, name, limit = self.kind, self.name, self.limit
        counted = "" if resource else "running applications of "
        return Quota(
            rule=(str(limit) if limit else f"usage of {kind} {name}")[:_MAX_RULE],
            text=f"{counted}{kind} {name} in {self.queue}",
            resource=resource,
            code=f"{kind}_limit",
            source=limit.source if limit else None,
            mode=limit.mode if limit and most is not None else Mode.ENFORCE,
        )
