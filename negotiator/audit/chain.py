r"""The lines of an audit log, each sealed together with the hash of the one before it.

A line is ``{"seq":N,"prev":"HASH","kind":...,...,"hash":"HASH"}\n`` in ASCII, its fields in this order. ``hash`` is made
over the bytes of the line without the field ``hash`` and without the line end: SHA-256, or HMAC-SHA-256 with a key; then
``"keyed":"ID"`` stands behind ``prev``, where ID tells keys apart and tells nothing of the key.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING, Any

import attrs

from negotiator.audit.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: No line is longer (bytes): what a reader must be ready to hold.
MAX_LINE = 16 * 2**20

_HASH_FIELD = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n')
_HASH_FIELD_BYTES = 76
_FIRST_FIELDS = re.compile(
    rb'\{"seq":([1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",(?:"keyed":"([0-9a-f]{16})",)?"kind":"',
)
# These fields come first, so that no text that a user chose can stand for them.
_BUNDLE = re.compile(
    rb'[^{]*"kind":"[a-z_]+",(?:"cycle":[0-9]+|"time":"[^"]*"),"bundle":"([0-9a-f]{64})"',
)
_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-fA-F]{64})")
_OWN_FIELDS = frozenset({"seq", "prev", "keyed", "hash"})


@attrs.frozen
class ChainLink:
    """One record of a chain: its number, and the hash that stands for it and all before it."""

    seq: int
    hash: str

    def __str__(self) -> str:
        """``SEQ:HASH``, the form in which a head is kept elsewhere."""
        return f"{self.seq}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> ChainLink:
        """Read ``SEQ:HASH``; anything else is a ValueError."""
        found = _HEAD.fullmatch(text.strip())
        if not found:
            raise ValueError("a head is written SEQ:HASH, a number and 64 hexadecimal digits")
        return cls(int(found[1]), found[2].lower())


#: What the first record of a chain follows on.
START = ChainLink(0, "0" * 64)


class Seal:
    """How records are sealed: with a key or without. The key is never shown."""

    __slots__ = ("_key", "id")

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        self.id = None if key is None else hmac.digest(key, b"negotiator audit key", "sha256").hex()[:16]

    def of(self, body: bytes) -> str:
        """Give the hash of a record without its field ``hash``: 64 hexadecimal digits."""
        if self._key is None:
            return hashlib.sha256(body).hexdigest()
        return hmac.digest(self._key, body, "sha256").hex()


@attrs.frozen
class LogLine:
    """One line as it was read; ``hash`` is what it says of itself, to be compared with ``Seal.of(body)``."""

    seq: int
    prev: str
    keyed: str | None
    hash: str
    body: bytes = attrs.field(repr=False)

    @property
    def link(self) -> ChainLink:
        """The link that the next record must follow on."""
        return ChainLink(self.seq, self.hash)


def read(line: bytes) -> LogLine | None:
    """Take a line apart, with its line end; None where it is not in the form in which records are written.

    Bytes are compared, not what JSON makes of them: white space, the order of fields or another spelling of a
    string are changes too.
    """
    last = _HASH_FIELD.fullmatch(line, max(0, len(line) - _HASH_FIELD_BYTES))
    first = _FIRST_FIELDS.match(line)
    if not first or not last:
        return None
    return LogLine(
        seq=int(first[1]),
        prev=first[2].decode(),
        keyed=first[3].decode() if first[3] else None,
        hash=last[1].decode(),
        body=line[:-_HASH_FIELD_BYTES] + b"}",
    )


def bundle_of(entry: LogLine) -> str:
    """Return the digest of the bundle that a record names; empty if it names none."""
    found = _BUNDLE.match(entry.body, 1)
    return found[1].decode() if found else ""


def write(records: Iterable[Mapping[str, Any]], last: ChainLink, seal: Seal) -> tuple[bytes, ChainLink]:
    """Seal records, each with a ``kind`` and of plain JSON values, into lines that follow on ``last``.

    :return: the bytes of all lines, and the link of the last of them.
    """
    lines = []
    for record in records:
        line, last = _line(record, last, seal)
        lines.append(line)
    return b"".join(lines), last


def _line(record: Mapping[str, Any], last: ChainLink, seal: Seal) -> tuple[bytes, ChainLink]:
    if not _OWN_FIELDS.isdisjoint(record) or not isinstance(record["kind"], str):
        raise ValueError(f"a record has a kind, and leaves {', '.join(sorted(_OWN_FIELDS))} to the log")
    keyed = {"keyed": seal.id} if seal.id else {}
    fields = {"seq": last.seq + 1, "prev": last.hash, **keyed, "kind": record["kind"], **record}
    body = json.dumps(fields, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    link = ChainLink(last.seq + 1, seal.of(body))
    line = b'%b,"hash":"%b"}\n' % (body[:-1], link.hash.encode())
    if len(line) > MAX_LINE:
        raise AuditError(f"a record of kind {record['kind']} has {len(line)} bytes, more than {MAX_LINE}")
    return line, link
