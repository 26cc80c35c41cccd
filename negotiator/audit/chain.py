r"""The lines of an audit log, a hash chain.

A line is ``{"seq":N,"prev":"HASH","kind":...,...,"hash":"HASH"}\n`` in ASCII, its fields in this order. ``hash`` is made
over the bytes of the line without the field ``hash`` and without the line end: SHA-256, or HMAC-SHA-256 with a key. With a
key the field ``"keyed":"ID"`` follows ``prev``; ID distinguishes keys and reveals nothing of them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from negotiator.audit.errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The longest line, in bytes.
MAX_LINE = 16 * 2**20

_HASH_FIELD = re.compile(rb',"hash":"([0-9a-f]{64})"\}\n')
_HASH_FIELD_BYTES = 76
_FIRST_FIELDS = re.compile(
    rb'\{"seq":([1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",(?:"keyed":"([0-9a-f]{16})",)?"kind":"',
)
# These fields come first, so that no text that a user chose can imitate them.
_TO_KIND = rb'\{"seq":[0-9]+,"prev":"[0-9a-f]{64}",(?:"keyed":"[0-9a-f]{16}",)?"kind":'
_KIND = re.compile(_TO_KIND + rb'"([a-z_]+)"')
_BUNDLE = re.compile(
    _TO_KIND + rb'"[a-z_]+",(?:"cycle":[0-9]+,)?(?:"time":"[^"]*",)?"bundle":"([0-9a-f]{64})"',
)
_NEW_BUNDLE = re.compile(
    _TO_KIND + rb'"reload","time":"[^"]*","bundle":"[0-9a-f]{64}",'
    rb'"trigger":"(?:[^"\\]|\\.)*","accepted":true,"new_bundle":"([0-9a-f]{64})"',
)
_RECORD_HEAD = re.compile(
    _TO_KIND + rb'"([a-z_]+)"(?:,"cycle":([0-9]+))?,"time":"([^"]+)"(?:,"bundle":"([0-9a-f]{64})")?',
)
_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-fA-F]{64})")
_OWN_FIELDS = frozenset({"seq", "prev", "keyed", "hash"})


class RecordHead(NamedTuple):
    """The fields that a record begins with, as the line has them; empty if it has no such field."""

    kind: bytes
    cycle: bytes
    time: bytes
    bundle: bytes


def record_head(line: bytes) -> RecordHead | None:
    """Return the first fields of a line, which is not parsed as a whole; None if it does not begin with kind and time."""
    found = _RECORD_HEAD.match(line)
    return None if found is None else RecordHead(*found.groups(b""))


@attrs.frozen
class ChainLink:
    """One record of a chain: its number and its hash, which covers all records before it too."""

    seq: int
    hash: str

    def __str__(self) -> str:
        """``SEQ:HASH``, the form of a head."""
        return f"{self.seq}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> ChainLink:
        """Read ``SEQ:HASH``; raise ValueError for anything else."""
        found = _HEAD.fullmatch(text.strip())
        if not found:
            raise ValueError("invalid head: must be SEQ:HASH, a number and 64 hexadecimal digits")
        return cls(int(found[1]), found[2].lower())


#: The predecessor of the first record of a chain.
START = ChainLink(0, "0" * 64)


class Seal:
    """Hashes records, with a key or without. The key is never shown."""

    __slots__ = ("_key", "id")

    def __init__(self, key: bytes | None) -> None:
        self._key = key
        self.id = None if key is None else hmac.digest(key, b"negotiator audit key", "sha256").hex()[:16]

    def of(self, body: bytes) -> str:
        """Return the hash of a record without its field ``hash``: 64 hexadecimal digits."""
        if self._key is None:
            return hashlib.sha256(body).hexdigest()
        return hmac.digest(self._key, body, "sha256").hex()


@attrs.frozen
class LogLine:
    """One line that was read; ``hash`` is its own field, to be compared with ``Seal.of(body)``."""

    seq: int
    prev: str
    keyed: str | None
    hash: str
    body: bytes = attrs.field(repr=False)

    @property
    def link(self) -> ChainLink:
        """The link of this record, which the next one must name as its predecessor."""
        return ChainLink(self.seq, self.hash)


def read(line: bytes) -> LogLine | None:
    """Parse a line, with its line end; None if it is not in the form in which records are written.

    Bytes are compared, not JSON values: other white space, order of fields or spelling of a string is a change too.
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


def kind_of(entry: LogLine) -> bytes:
    """Return the kind of a record; empty if it is not one that this program writes."""
    found = _KIND.match(entry.body)
    return found[1] if found else b""


def bundles_of(entry: LogLine) -> tuple[str, ...]:
    """Return the digests of the bundles that a record names: the active one, and the new one of an accepted reload."""
    found = (pattern.match(entry.body) for pattern in (_BUNDLE, _NEW_BUNDLE))
    return tuple(each[1].decode() for each in found if each)


def write(records: Iterable[Mapping[str, Any]], last: ChainLink, seal: Seal) -> tuple[bytes, ChainLink]:
    """Return records as lines of the chain after ``last``, and the link of the last of them.

    :param records: mappings of plain JSON values, each with a ``kind``.
    """
    lines = []
    for record in records:
        line, last = _line(record, last, seal)
        lines.append(line)
    return b"".join(lines), last


def _line(record: Mapping[str, Any], last: ChainLink, seal: Seal) -> tuple[bytes, ChainLink]:
    if not _OWN_FIELDS.isdisjoint(record) or not isinstance(record["kind"], str):
        raise ValueError(
            f"a record must have a kind, and none of the fields {', '.join(sorted(_OWN_FIELDS))}"
        )
    keyed = {"keyed": seal.id} if seal.id else {}
    fields = {"seq": last.seq + 1, "prev": last.hash, **keyed, "kind": record["kind"], **record}
    body = json.dumps(fields, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")
    link = ChainLink(last.seq + 1, seal.of(body))
    line = b'%b,"hash":"%b"}\n' % (body[:-1], link.hash.encode())
    if len(line) > MAX_LINE:
        raise AuditError(f"a record of kind {record['kind']} has {len(line)} bytes, more than {MAX_LINE}")
    return line, link
