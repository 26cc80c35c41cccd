"""Checks of the records with a value for each row of a table: gates, filters and scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from negotiator.hooks.fields import (
    WrongAnswerError,
    check_exactly,
    check_instance,
    check_overruns,
    checked_label,
    checked_rule,
    kind_of,
)
from negotiator.hooks.records import Filter, Gate, Mask, Score
from negotiator.records import Verdict


def checked_gate(record: Any, arguments: Mapping[str, Any]) -> Gate:
    """Return a Gate whose mask has one element for each of the ``ads``."""
    check_exactly(record, Gate, "a Gate")
    discard = _mask(record.discard, len(arguments["ads"]), "discard of a Gate")
    check_exactly(record.outside, bool, "a bool as outside of a Gate")
    check_overruns(record, "Gate")
    gate: Gate = attrs.evolve(record, discard=discard, **_decision(record, "Gate"))
    return gate


def checked_filter(record: Any, arguments: Mapping[str, Any]) -> Filter:
    """Return a Filter whose mask has one element for each of the ``slots``."""
    check_exactly(record, Filter, "a Filter")
    allow = _mask(record.allow, len(arguments["slots"]), "allow of a Filter")
    slot_filter: Filter = attrs.evolve(record, allow=allow, **_decision(record, "Filter"))
    return slot_filter


def checked_score(record: Any, arguments: Mapping[str, Any]) -> Score:
    """Return a Score that has a number for each of the ``slots``."""
    check_exactly(record, Score, "a Score")
    rule = checked_label(record.rule, "rule of a Score")
    what, values, rows = "values of a Score", record.values, len(arguments["slots"])
    if type(values) is not np.ndarray or values.dtype.kind not in "biuf":
        shown = values.dtype if type(values) is np.ndarray else kind_of(values)
        raise WrongAnswerError(f"expected a NumPy array of float64 as {what}, got {shown}")
    if values.shape != (rows,):
        raise WrongAnswerError(f"expected {rows} numbers (one a slot) as {what}, got {values.shape}")
    numbers = values.astype(np.float64)
    if np.isnan(numbers).any():
        hint = "give numbers() a default for slots without the attribute"
        raise WrongAnswerError(
            f"expected numbers as {what}, got NaN for {int(np.isnan(numbers).sum())} slots: {hint}"
        )
    numbers.setflags(write=False)
    return Score(rule, numbers)


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
