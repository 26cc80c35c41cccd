"""The policy bundles that an audit log names, stored beside it: ``bundles/DIGEST.json``, one file a digest.

A file is written once, before the first record that names its digest, and never changed.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from negotiator.audit.errors import AuditError, naming
from negotiator.bundle.archive import decode, digest_of, encode
from negotiator.files import open_regular, replace_file, sync_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FOLDER = "bundles"
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"[0-9a-f]{8,64}")


class NoBundleError(AuditError):
    """The audit log has no copy of this bundle."""


class AlteredBundleError(AuditError):
    """The stored copy of a bundle does not have the digest in its name: it was changed."""


def bundle_file(folder: Path, digest: str) -> Path:
    """Return the path of a bundle's copy; ``folder`` is that of the audit log."""
    return folder / _FOLDER / f"{digest}.json"


def store_bundle(folder: Path, digest: str, files: Mapping[str, bytes]) -> None:
    """Store the files of a bundle, durably, unless they are stored already.

    A crash leaves the whole file or none.

    :raises AuditError: it cannot be written.
    """
    file = bundle_file(folder, digest)
    with naming(file, "store the policy bundle"):
        if file.exists():
            return
        if not file.parent.is_dir():
            file.parent.mkdir(mode=_FOLDER_MODE)
            sync_folder(folder)
        replace_file(file, encode(files), mode=_FILE_MODE)


def read_bundle(folder: Path, digest: str) -> dict[str, bytes]:
    """Return the files of a stored bundle, by name, after comparing them with the digest.

    :raises NoBundleError: it is not stored.
    :raises AlteredBundleError: the copy was changed.
    :raises AuditError: it cannot be read.
    """
    file = bundle_file(folder, digest)
    with naming(file, "read the policy bundle"):
        try:
            with os.fdopen(open_regular(file), "rb") as opened:
                data = opened.read()
        except FileNotFoundError:
            raise NoBundleError(f"{folder}: no copy of bundle {digest}") from None
    try:
        files = decode(data)
    except ValueError as error:
        raise AlteredBundleError(f"{file}: {error}") from None
    if digest_of(files) != digest:
        raise AlteredBundleError(f"{file}: the content does not have this digest: it was changed")
    return files


def find_digest(folder: Path, prefix: str) -> str:
    """Return the digest of the one stored bundle whose digest begins with ``prefix``, at least 8 digits of it.

    :raises NoBundleError: no stored bundle matches, or several do.
    """
    if not _PREFIX.fullmatch(prefix):
        raise NoBundleError("a digest has 64 hexadecimal digits; its first 8 or more will do")
    with naming(folder / _FOLDER, "read the stored bundles"):
        try:
            names = [file.stem for file in (folder / _FOLDER).iterdir() if file.suffix == ".json"]
        except FileNotFoundError:
            names = []
    found = [name for name in names if _DIGEST.fullmatch(name) and name.startswith(prefix)]
    if len(found) != 1:
        problem = f"several bundles begin with {prefix}" if found else f"no copy of bundle {prefix}"
        raise NoBundleError(f"{folder}: {problem}")
    return found[0]
