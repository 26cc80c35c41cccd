"""The counts of one rule, and the name of a rule in them."""

from __future__ import annotations

from typing import NamedTuple

import attrs

from negotiator.records import Reason


class RuleKey(NamedTuple):
    """A rule as reasons name it: its plugin, its name, its place (empty if unknown) and its mode."""

    plugin: str
    rule: str
    source: str
    mode: str

    @classmethod
    def of(cls, reason: Reason) -> RuleKey:
        """Return the rule of a reason."""
        origin = reason.provenance
        return cls(origin.plugin, origin.rule, str(origin.source or ""), str(reason.mode))


@attrs.define(kw_only=True)
class RuleCounts:
    """What a rule does in a cycle; each number beside it counts what no other rule that enforces does as well.

    ``ads`` are those that a gate discards. ``requests`` are those that it takes slots from at their last turn, ``slots`` the sum of these
    slots over the requests, and ``jobs`` the jobs of these requests without a slot: ``jobs_alone`` of them could get one if there were only
    the other rules. ``matches`` are those that it would deny if it enforced; ``matches_alone`` those that no other such rule would.
    """

    ads: int = 0
    ads_alone: int = 0
    requests: int = 0
    slots: int = 0
    slots_alone: int = 0
    jobs: int = 0
    jobs_alone: int = 0
    matches: int = 0
    matches_alone: int = 0

    def add(self, other: RuleCounts) -> None:
        """Add the counts of another request, or of other ads."""
        for field in attrs.fields(RuleCounts):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
