"""How values stand in records: bounded, and nothing that JSON does not know."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, TypeAlias

from negotiator.records import Provenance, Reason

Record: TypeAlias = dict[str, Any]

# Bounds in characters and items, so that no user's job can make a record longer than a line may be.
NAME = 256
TEXT = 500
_NUMBER = 64
_NUMBERS = 16


def bounded(text: str, longest: int = NAME) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def instant(seconds: float) -> str:
    """A time in seconds since the epoch as ISO 8601 in UTC, in milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def number(value: object) -> float | str:
    """JSON has no infinity and no NaN: they are told as text, as is what a plugin gave that is no number."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return int(value) if isinstance(value, int) else bounded(str(value), _NUMBER)


def reason_fields(reason: Reason) -> Record:
    """A reason with its numbers and where it comes from."""
    return {
        "verdict": str(reason.verdict),
        "mode": str(reason.mode),
        "code": bounded(reason.code),
        "text": bounded(reason.text, TEXT),
        "numbers": {
            bounded(name, _NUMBER): number(value) for name, value in list(reason.numbers.items())[:_NUMBERS]
        },
        "provenance": provenance_fields(reason.provenance),
    }


def provenance_fields(provenance: Provenance) -> Record:
    """Which rule of whom, and where it is written."""
    return {
        "station": str(provenance.station),
        "plugin": bounded(provenance.plugin),
        "version": bounded(provenance.version),
        "rule": bounded(provenance.rule),
        "source": bounded(str(provenance.source)) if provenance.source else None,
    }
