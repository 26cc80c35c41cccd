"""Reads the end of a file of an audit log, without the rest of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import attrs

from negotiator.audit import chain
from negotiator.audit.errors import AuditError, naming

if TYPE_CHECKING:
    from pathlib import Path

    from negotiator.audit.chain import ChainLink, Seal

_FIRST_SPAN = 2**16


@attrs.frozen
class Tail:
    """The last complete line of a file with its line end (empty if there is none), and the bytes after it."""

    line: bytes
    torn: bytes


def read_tail(file: Path) -> Tail:
    """Return the last complete line and what follows it; read at most a few of the longest lines."""
    with naming(file, "read the audit log"), file.open("rb") as stream:
        size = stream.seek(0, 2)
        span = _FIRST_SPAN
        while True:
            start = stream.seek(max(0, size - span))
            data = stream.read()
            end = data.rfind(b"\n") + 1
            begin = data.rfind(b"\n", 0, max(0, end - 1)) + 1
            if start == 0 or begin:
                return Tail(data[begin:end], data[end:])
            if span > 2 * chain.MAX_LINE:
                raise AuditError(f"{file}: no record at the end (negotiator audit verify)")
            span *= 4


def last_link(file: Path, line: bytes, seal: Seal) -> ChainLink:
    """Verify the last complete line of a log, and return its link, for appending.

    :raises AuditError: it does not verify, or has another key.
    """
    entry = chain.read(line)
    if entry and entry.keyed != seal.id:
        raise AuditError(
            f"{file}: {mismatch(entry.keyed, seal)}; a chain has one key (or begin a new folder)"
        )
    if not entry or entry.hash != seal.of(entry.body):
        raise AuditError(
            f"{file}: the last record does not verify, so nothing is appended to it (negotiator audit verify; to begin a new "
            "log, move the folder away)"
        )
    return entry.link


def unfinished(file: Path, line: bytes) -> tuple[str, ...]:
    """Return a notice if the log ends with matches whose outcome was never recorded."""
    record = json.loads(line)
    lost = record["kind"] == "cycle" and record.get("matches")
    lost = lost or (record["kind"] == "outcome" and record.get("part") != record.get("parts"))
    if not lost:
        return ()
    message = (
        f"{file}: the outcome of cycle {record.get('cycle')} was never recorded, since the process ended before: "
        "it is unknown which of its matches were handed out"
    )
    return (message,)


def mismatch(keyed: str | None, seal: Seal) -> str:
    """Return how the key of a record differs from the given one."""
    if keyed is None:
        return "the log is not keyed, and a key was given"
    if seal.id is None:
        return f"the log is keyed (key {keyed}), and no key was given"
    return f"the log is keyed with another key ({keyed}) than the one given ({seal.id})"
