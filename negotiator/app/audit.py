"""Use cases of an auditor: verify the audit log, and read the bundles that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs

from negotiator.activity import activity
from negotiator.audit.bundles import find_digest, read_bundle
from negotiator.audit.chain import ChainLink
from negotiator.audit.errors import AuditError
from negotiator.audit.folder import chain_files, log_bytes
from negotiator.audit.key import read_key
from negotiator.audit.newest import AuditPage as AuditPage
from negotiator.audit.newest import newest_records
from negotiator.audit.search import AuditQuery as AuditQuery
from negotiator.audit.verify import Verification as Verification
from negotiator.audit.verify import verify


@contextmanager
def searching(folder: Path, text: str = "searching the audit log") -> Iterator[None]:
    """Report that the log in a folder is read, as an activity."""
    try:
        total = log_bytes(chain_files(folder))
    except AuditError:
        total = 0
    with activity(text, total):
        yield


@attrs.frozen
class StoredBundle:
    """A bundle that the audit log names: its digest, and the content of each file by name."""

    digest: str
    files: Mapping[str, bytes]


def parse_head(text: str) -> str:
    """Return the canonical form of ``SEQ:HASH``, the head of a record.

    :raises ValueError: it is invalid.
    """
    return str(ChainLink.parse(text))


def verify_log(folder: Path, head: str | None = None, key_file: Path | None = None) -> Verification:
    """Verify the audit log in a folder, and the stored copies of the bundles that it names.

    :param head: ``SEQ:HASH`` of some record, stored elsewhere. Without it a log whose end was cut off verifies.
    :param key_file: the key of a keyed log.
    :raises AuditError: the log or the key is missing or cannot be read.
    :raises ValueError: ``head`` is invalid.
    """
    return verify(folder, key=read_key(key_file) if key_file else None, head=head)


def stored_bundle(folder: Path, digest: str) -> StoredBundle:
    """Return the bundle that was in force, after comparing it with its digest.

    :param folder: the folder of the audit log.
    :param digest: the digest in a record, or at least its first 8 digits, in any case.
    :raises NoBundleError: no copy is stored, or several digests begin like this.
    :raises AlteredBundleError: the copy was changed.
    :raises AuditError: it cannot be read.
    """
    found = find_digest(folder, digest.lower())
    return StoredBundle(found, read_bundle(folder, found))


def audit_page(folder: Path, query: AuditQuery, limit: int = 100) -> AuditPage:
    """Return the newest records that a query accepts, at most ``limit``; the chain is not verified.

    :raises AuditError: the log is missing or cannot be read.
    """
    with searching(folder):
        return newest_records(folder, query, limit)
