"""Checks of the records with a mask over a table: gates and filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from negotiator.hooks.fields import (
    WrongAnswerError,
    check_exactly,
    check_instance,
    checked_label,
    checked_rule,
    kind_of,
)
from negotiator.hooks.records import Filter, Gate, Mask
from negotiator.records import Verdict


def checked_gate(record: Any, arguments: Mapping[str, Any]) -> Gate:
    """Return a Gate whose mask has one element for each of the ``ads``."""
    check_exactly(record, Gate, "a Gate")
    discard = _mask(record.discard, len(arguments["ads"]), "discard of a Gate")
    check_exactly(record.outside, bool, "a bool as outside of a Gate")
    gate: Gate = attrs.evolve(record, discard=discard, **_decision(record, "Gate"))
    return gate


def checked_filter(record: Any, arguments: Mapping[str, Any]) -> Filter:
    """Return a Filter whose mask has one element for each of the ``slots``."""
    check_exactly(record, Filter, "a Filter")
    allow = _mask(record.allow, len(arguments["slots"]), "allow of a Filter")
    slot_filter: Filter = attrs.evolve(record, allow=allow, **_decision(record, "Filter"))
    return slot_filter


def _decision(record: Any, what: str) -> dict[str, Any]:
    check_instance(record.verdict, Verdict, f"a Verdict as verdict of a {what}")
    return {**checked_rule(record, what), "code": checked_label(record.code, f"code of a {what}")}


def _mask(value: object, rows: int, what: str) -> Mask:
    # Exactly ndarray: a masked array would lose its own mask silently.
    if type(value) is not np.ndarray:
        raise WrongAnswerError(f"expected a NumPy array of bool as {what}, got {kind_of(value)}")
    if value.dtype != np.bool_ or value.ndim != 1:
        shape = f"{value.ndim}-d array of {value.dtype}"
        raise WrongAnswerError(f"expected a 1-d NumPy array of bool as {what}, got a {shape}")
    if len(value) != rows:
        raise WrongAnswerError(
            f"expected {rows} elements (one a row of the table) as {what}, got {len(value)}"
        )
    mask = value.copy()
    mask.setflags(write=False)
    return mask
