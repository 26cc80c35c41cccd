"""The switches of behaviours of HTCondor's negotiator that a successor need not copy."""

from __future__ import annotations

import enum
from typing import TypeVar

import attrs

Quirks = TypeVar("Quirks", bound=attrs.AttrsInstance)


class Compatible(enum.StrEnum):
    """Whether a quirk of condor_negotiator is reproduced (``exact``) or not (``fixed``)."""

    EXACT = "exact"
    FIXED = "fixed"


@attrs.frozen
class CompatibilitySettings:
    """``compatible:`` of ``pool.yaml``: one switch for each quirk; ``default`` is that of the switches without a value.

    What each of them means: ``PieQuirks``, ``OfferQuirks`` and ``GroupQuirks``.
    """

    default: Compatible = Compatible.EXACT
    autoregroup_quota: Compatible | None = None
    crumbs: Compatible | None = None
    empty_pool: Compatible | None = None
    floors: Compatible | None = None
    group_overrun: Compatible | None = None
    limit_up_to_quota: Compatible | None = None
    preemption_priority: Compatible | None = None
    rejection_marks: Compatible | None = None
    remote_group_quota: Compatible | None = None
    dynamic_slots_tried_once: Compatible | None = None
    unclaimed_limit: Compatible | None = None
    undefined_limit: Compatible | None = None
    whole_limits: Compatible | None = None

    def quirks(self, kind: type[Quirks]) -> Quirks:
        """Return the switches that a class of quirks has as fields."""
        names = (field.name for field in attrs.fields(kind))
        return kind(**{name: getattr(self, name) or self.default for name in names})
