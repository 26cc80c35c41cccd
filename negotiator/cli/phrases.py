"""Phrases of reports."""

from negotiator.app.phrases import NO_PART as NO_PART
from negotiator.app.phrases import number as number
from negotiator.app.phrases import rule as rule
from negotiator.app.phrases import sentence as sentence

_MINUTE = 60.0


def duration(seconds: float) -> str:
    """Return ``12 s``, or ``3 min`` from a minute on."""
    return f"{seconds:.0f} s" if seconds < _MINUTE else f"{seconds / _MINUTE:.0f} min"


def record_time(text: str) -> str:
    """Return the time of an audit record (UTC) for a table: ``2026-11-23 14:05:10``."""
    return text[:19].replace("T", " ")
