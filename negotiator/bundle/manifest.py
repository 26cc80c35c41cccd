"""Compare a bundle with its manifest, if it has one: a file that lists the SHA-256 of every other file of the folder.

It has the format of ``sha256sum``. A bundle with a manifest is complete or refused, however its files got there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping

from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

MANIFEST = "SHA256SUMS"

_LINE = re.compile(r"([0-9a-fA-F]{64}) [ *](?:\./)*(.+)")
_ANEW = f"is every file completely there? then write {MANIFEST} anew with sha256sum"


def check_manifest(files: Mapping[str, bytes]) -> Iterator[Problem]:
    """Yield an error for each line that is invalid, and for each file that is missing, unlisted or has other contents.

    :param files: the contents of all files of the bundle, by name relative to the folder.
    """
    if MANIFEST not in files:
        return
    listed: set[str] = {MANIFEST}
    for number, line in enumerate(files[MANIFEST].decode("utf-8", "surrogateescape").splitlines(), 1):
        entry = _LINE.fullmatch(line)
        if entry is None:
            yield _error(MANIFEST, "invalid line: expected a SHA-256, two blanks and a name", number)
            continue
        digest, name = entry.groups()
        listed.add(name)
        if name == MANIFEST:
            continue  # sha256sum * lists an older manifest
        if name not in files:
            yield _error(name, f"this file is listed in {MANIFEST}, and missing")
        elif hashlib.sha256(files[name]).hexdigest() != digest.lower():
            yield _error(name, f"the contents of this file differ from what {MANIFEST} lists")
    for name in sorted(files.keys() - listed):
        yield _error(name, f"this file is not listed in {MANIFEST}")


def _error(name: str, message: str, line: int = 0) -> Problem:
    return Problem(Severity.ERROR, Source(printable(name), line), message, _ANEW)
