"""Phrases of reports."""

from negotiator.app.phrases import NO_PART as NO_PART
from negotiator.app.phrases import number as number
from negotiator.app.phrases import rule as rule
from negotiator.app.phrases import sentence as sentence


def record_time(text: str) -> str:
    """Return the time of an audit record (UTC) for a table: ``2026-11-23 14:05:10``."""
    return text[:19].replace("T", " ")
