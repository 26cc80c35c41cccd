"""The values in records: of bounded length, and of JSON's types only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from negotiator.records import Provenance, Reason

Record: TypeAlias = dict[str, Any]

# Bounds in characters and items, so that no job can make a record longer than MAX_LINE.
NAME = 256
TEXT = 500
_NUMBER = 64
_NUMBERS = 16


def bounded(text: str, longest: int = NAME) -> str:
    """Return a text cut to at most ``longest`` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def instant(seconds: float) -> str:
    """Return a time in seconds since the epoch as RFC 3339 text in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def number(value: object) -> float | str:
    """Return a number as JSON has it: infinity, NaN, and a plugin's value that is not a number become text."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return int(value) if isinstance(value, int) else bounded(str(value), _NUMBER)


def reason_fields(reason: Reason) -> Record:
    """Return the fields of a reason, with its numbers and its provenance."""
    return {
        "verdict": str(reason.verdict),
        "mode": str(reason.mode),
        "code": bounded(reason.code),
        "text": bounded(reason.text, TEXT),
        "numbers": number_fields(reason.numbers),
        "provenance": provenance_fields(reason.provenance),
    }


def number_fields(numbers: Mapping[str, int | float | str]) -> Record:
    """Return the first numbers of a reason, with bounded names."""
    return {bounded(name, _NUMBER): number(value) for name, value in list(numbers.items())[:_NUMBERS]}


def provenance_fields(provenance: Provenance) -> Record:
    """Return the fields of a provenance: plugin, rule and source."""
    return {
        "station": str(provenance.station),
        "plugin": bounded(provenance.plugin),
        "version": bounded(provenance.version),
        "rule": bounded(provenance.rule),
        "source": bounded(str(provenance.source)) if provenance.source else None,
    }
