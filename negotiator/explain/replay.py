"""Decides a recorded cycle again, and compares the decisions byte for byte."""

from __future__ import annotations

import json
from typing import Any, Final

import attrs

from negotiator.audit.recorded_cycle import RecordedCycle, RecordingError, result_bytes
from negotiator.bundle.model import Bundle
from negotiator.cycle.loop import run_cycle
from negotiator.cycle.result import CycleResult

#: Kinds of records, and fields of that of a cycle.
_OF_OVERRUNS: Final = frozenset(
    {"overfill", "overfills", "overfills_left_out"}
    | {"overrun", "overruns", "overruns_by_rule", "overruns_left_out", "unjudged"}
)


@attrs.frozen
class Replay:
    """A recorded cycle that was decided again; ``difference`` names the first one, and is empty if all bytes are equal."""

    result: CycleResult = attrs.field(repr=False)
    difference: str


def replay(recorded: RecordedCycle, bundle: Bundle) -> Replay:
    """Decide a recorded cycle again.

    :param bundle: that of the recording.
    :raises RecordingError: the recorded result is not JSON.
    """
    result = run_cycle(recorded.snapshot, bundle, recorded.cycle, recorded.state, time=recorded.time)
    found = result_bytes(result)
    return Replay(result, "" if found == recorded.result else _first_difference(recorded.result, found))


def _first_difference(expected: bytes, found: bytes) -> str:
    """Return where two results differ first: the kind of the record, its place, and the field with both values."""
    try:
        recorded = json.loads(expected)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"the recorded cycle is damaged: its result is not JSON: {error}") from None
    replayed = json.loads(found)
    if is_earlier := _is_before_overruns(recorded):
        recorded, replayed = _without_overruns(recorded), _without_overruns(replayed)
    unseen = "" if is_earlier else "the bytes differ, the values do not"
    return _difference("", recorded, replayed) or unseen


def _is_before_overruns(result: Any) -> bool:
    """True for the result of a program that recorded only exceeded limits, under another name."""
    cycles = result.get("cycle") if isinstance(result, dict) else None
    return isinstance(cycles, list) and any(isinstance(each, dict) and "overfills" in each for each in cycles)


def _without_overruns(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the records and fields in which such a program differs: what they say decides nothing."""
    kept = {kind: records for kind, records in result.items() if kind not in _OF_OVERRUNS}
    cycles = [{name: each[name] for name in each if name not in _OF_OVERRUNS} for each in kept["cycle"]]
    return {**kept, "cycle": cycles}


def _difference(path: str, expected: Any, found: Any) -> str:
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted(expected.keys() | found.keys()):
            if name not in expected or name not in found:
                return f"{path}{name} is only in the {'replay' if name in found else 'recording'}"
            if inner := _difference(f"{path}{name}.", expected[name], found[name]):
                return inner
        return ""
    if isinstance(expected, list) and isinstance(found, list):
        for place, (one, other) in enumerate(zip(expected, found, strict=False)):
            if inner := _difference(f"{path.removesuffix('.')}[{place}].", one, other):
                return inner
        if len(expected) != len(found):
            return f"{path.removesuffix('.')} has {len(found)} entries instead of {len(expected)}"
        return ""
    if expected == found and type(expected) is type(found):
        return ""
    return f"{path.removesuffix('.')} is {_shown(found)} instead of {_shown(expected)}"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
