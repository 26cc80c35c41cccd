"""Slots as the negotiator matches them: with NegotiatorRequirements and with its match expressions.

NegotiatorRequirements are what a slot requires of jobs in the negotiator alone, in place of its Requirements. Source:
condor_negotiator 25.14.1, which keeps the slot's own as SavedRequirements; HTCondor manual, NEGOTIATOR_MATCH_EXPRS.
"""

from __future__ import annotations

import numpy as np

from negotiator.bundle.model import Bundle
from negotiator.classad import Expr, Table

_OWN, _FOR_NEGOTIATOR, _SAVED = "Requirements", "NegotiatorRequirements", "SavedRequirements"


def slots_to_match(slots: Table, bundle: Bundle) -> Table:
    """Return the slots as they are matched."""
    slots = _with_negotiator_requirements(slots)
    if not bundle.match_expressions or not len(slots):
        return slots
    all_alike = np.zeros(len(slots), np.int64)
    return slots.with_attributes(
        {name: (all_alike, [tree]) for name, tree in bundle.match_expressions.items()}
    )


def _with_negotiator_requirements(slots: Table) -> Table:
    """Return the slots with their NegotiatorRequirements as Requirements; those without stay as they are."""
    if _FOR_NEGOTIATOR.lower() not in slots.names():
        return slots
    codes, first = slots.group([_OWN, _FOR_NEGOTIATOR, _SAVED])
    required: list[Expr | None] = []
    saved: list[Expr | None] = []
    for row in first.tolist():  # one slot of each kind
        ad = slots.ad(row)
        own, replacing = ad.get(_OWN), ad.get(_FOR_NEGOTIATOR)
        required.append(own if replacing is None else replacing)
        saved.append(ad.get(_SAVED) if replacing is None else own)
    return slots.with_attributes({_OWN: (codes, required), _SAVED: (codes, saved)})
