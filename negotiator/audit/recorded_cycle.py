"""A cycle with everything that it was decided from, as one compressed file: snapshot, state, bundle, stops by time limits, decisions, and result.

The file is a line of JSON (format, version, names, sizes and digests), and the parts one after the other, each compressed by zlib. What a
snapshot does not have (claim ids, capabilities) is not in it either.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any, Final, Self

import attrs

from negotiator import __version__
from negotiator.audit.errors import AuditError
from negotiator.audit.records import records_by_kind
from negotiator.bundle import archive
from negotiator.cycle.cycle_state import CycleState, CycleStateError
from negotiator.cycle.cycle_time import RecordedTime, TimeStop
from negotiator.cycle.decisions import CycleDecisions
from negotiator.cycle.result import CycleResult
from negotiator.hooks.records import Cycle
from negotiator.hooks.turn_time import TimeLimit
from negotiator.pool.limits import SnapshotFormatError
from negotiator.pool.snapshot import Snapshot

FORMAT: Final = "negotiator cycle"
VERSION: Final = 3  # 1 had the plugins in each record of the result, 2 no decisions

_LEVEL: Final = 1  # of compression: a snapshot becomes a sixth, and higher levels save little
_LONGEST_HEAD: Final = 1 << 16
_LARGEST_PART: Final = 1 << 32  # bytes of a part that is not compressed: a million ads have a tenth
_LAST_TIME: Final = 253_402_300_000  # the year 9999
_PARTS: Final = ("snapshot", "state", "bundle", "stops", "decisions", "result")


class RecordingError(AuditError):
    """A recorded cycle cannot be read: it is damaged, or of another version."""


@attrs.frozen
class RecordedCycle:
    """A cycle that was recorded.

    ``files`` are those of its bundle, by name; ``decisions`` are those about each job, ``result`` is the canonical JSON of its
    audit records (``result_bytes``), which are shorter. ``program`` is the version that decided it,
    ``plugins`` are names and versions.
    """

    cycle: Cycle
    plugins: tuple[str, ...]
    snapshot: Snapshot
    state: CycleState
    files: Mapping[str, bytes] = attrs.field(repr=False)
    stops: tuple[TimeStop, ...]
    decisions: CycleDecisions = attrs.field(repr=False)
    result: bytes = attrs.field(repr=False)
    program: str = __version__

    @classmethod
    def of(
        cls, result: CycleResult, snapshot: Snapshot, state: CycleState, files: Mapping[str, bytes]
    ) -> Self:
        """Return the recording of a cycle.

        :param state: the one that the cycle began with.
        """
        cycle = Cycle(result.number, result.now, result.digest)
        stops = tuple(each.stop for each in result.reached)
        decisions = CycleDecisions.of(result)
        return cls(cycle, result.plugins, snapshot, state, files, stops, decisions, result_bytes(result))

    @property
    def time(self) -> RecordedTime:
        """The time as it passed in the cycle; make one for each replay."""
        return RecordedTime(self.stops)

    def encode(self) -> bytes:
        """Return the cycle as the content of a file."""
        stops = [{**attrs.asdict(each), "limit": str(each.limit)} for each in self.stops]
        parts = {
            "snapshot": self.snapshot.encode(),
            "state": self.state.encode(),
            "bundle": archive.encode(self.files),
            "stops": json.dumps(stops).encode("ascii"),
            "decisions": self.decisions.encode(),
            "result": self.result,
        }
        packed = {name: zlib.compress(content, _LEVEL) for name, content in parts.items()}
        head = {
            "format": FORMAT,
            "version": VERSION,
            "program": self.program,
            "number": self.cycle.number,
            "now": self.cycle.now,
            "digest": self.cycle.digest,
            "plugins": self.plugins,
            "parts": [
                {
                    "name": name,
                    "size": len(parts[name]),
                    "packed": len(each),
                    "sha256": hashlib.sha256(each).hexdigest(),
                }
                for name, each in packed.items()
            ],
        }
        return json.dumps(head, separators=(",", ":")).encode("ascii") + b"\n" + b"".join(packed.values())

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Return the cycle in the content of a file.

        :raises RecordingError: it is not a recorded cycle, is cut or changed, or is of another version. Nothing in it is executed.
        """
        head, start = _head(data)
        try:
            parts = _parts(head, data, start)
            return cls(
                cycle=Cycle(int(head["number"]), _time(head["now"]), str(head["digest"])),
                plugins=tuple(map(str, head["plugins"])),
                snapshot=Snapshot.decode(parts["snapshot"]),
                state=CycleState.decode(parts["state"]),
                files=archive.decode(parts["bundle"]),
                stops=tuple(
                    TimeStop(
                        TimeLimit(each["limit"]),
                        str(each["submitter"]),
                        str(each["schedd"]),
                        int(each["turn"]),
                    )
                    for each in json.loads(parts["stops"])
                ),
                decisions=CycleDecisions.decode(parts["decisions"]),
                result=parts["result"],
                program=str(head["program"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError, zlib.error, RecursionError) as error:
            raise RecordingError(f"the recorded cycle is damaged: {type(error).__name__}: {error}") from None
        except MemoryError:
            raise RecordingError("there is not enough memory for the recorded cycle") from None
        except (SnapshotFormatError, CycleStateError) as error:
            raise RecordingError(f"the recorded cycle is damaged: {error}") from None


def result_bytes(result: CycleResult) -> bytes:
    """Return the decisions of a cycle as canonical JSON: the fields of its audit records, equal for equal decisions."""
    return json.dumps(records_by_kind(result), sort_keys=True, separators=(",", ":")).encode("ascii")


def _head(data: bytes) -> tuple[dict[str, Any], int]:
    """Return the first line of a file, and where the parts begin."""
    end = data.find(b"\n", 0, _LONGEST_HEAD)
    try:
        head = json.loads(data[:end]) if end >= 0 else None
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise RecordingError("the file is not a recorded cycle")
    if head.get("version") != VERSION:
        raise RecordingError(
            f"the recorded cycle has version {str(head.get('version'))[:20]}, this program reads version {VERSION}"
        )
    return head, end + 1


def _parts(head: Mapping[str, Any], data: bytes, start: int) -> dict[str, bytes]:
    """Return the parts by name, after comparing each with its digest."""
    found: dict[str, bytes] = {}
    for part in head["parts"]:
        packed = data[start : start + part["packed"]]
        start += part["packed"]
        if len(packed) != part["packed"]:
            raise RecordingError(f"the recorded cycle is cut off in its part {str(part['name'])[:20]}")
        if hashlib.sha256(packed).hexdigest() != part["sha256"]:
            raise RecordingError(f"the part {str(part['name'])[:20]} of the recorded cycle was changed")
        found[part["name"]] = _unpacked(packed, part["size"])
    if start != len(data) or set(found) != set(_PARTS):
        raise RecordingError("the recorded cycle has other parts than this program writes")
    return found


def _time(value: Any) -> float:
    """Return the time of a cycle in seconds since the epoch; NaN is outside of the bounds too."""
    found = float(value)
    if not 0 <= found < _LAST_TIME:
        raise ValueError("no valid time")
    return found


def _unpacked(packed: bytes, size: int) -> bytes:
    """Return the content of a part; no more than it says is unpacked."""
    if not 0 <= size <= _LARGEST_PART:
        raise ValueError("a part has no valid size")
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(packed, size + 1)
    if len(content) != size or not unpacking.eof:
        raise ValueError("a part has another size than it says")
    return content
