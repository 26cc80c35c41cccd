"""The switch of behaviours of HTCondor's negotiator that a successor need not copy."""

from __future__ import annotations

import enum


class Compatible(enum.StrEnum):
    """Whether a quirk of condor_negotiator is reproduced (``exact``) or not (``fixed``)."""

    EXACT = "exact"
    FIXED = "fixed"
