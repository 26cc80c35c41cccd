"""The files of an audit log: ``audit-000001.jsonl``, ``audit-000002.jsonl``, ...; none is ever renamed. The exceptions of the log."""

from __future__ import annotations

import contextlib
import errno
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from negotiator.errors import NegotiatorError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


_ADVICE = {
    errno.ENOSPC: "make room on its file system",
    errno.EDQUOT: "raise the quota of this user, or make room",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EROFS: "its file system is mounted read-only",
    errno.EACCES: "it must belong to the user that runs the negotiator, and be writable for it",
    errno.EPERM: "it must belong to the user that runs the negotiator, and be writable for it",
    errno.EIO: "the device fails, see the kernel's log",
    errno.ELOOP: "it must not be a symbolic link",
}
_NAME = re.compile(r"audit-([0-9]{6,12})\.jsonl")


class AuditError(NegotiatorError):
    """The audit log cannot be written, read or trusted: what happened to which file, and what to do.

    >>> import negotiator as n
    >>> n.run(n.read_pool("examples/first-pool"), audit_log="README.md")
    Traceback (most recent call last):
    negotiator.audit.folder.AuditError: README.md: cannot make the folder of the audit log: ...
    """


class AuditBusyError(AuditError):
    """Another process has the audit log open for writing; it may be a short command."""


@contextmanager
def naming(path: Path, doing: str) -> Iterator[None]:
    """Turn an OSError within into an AuditError that names the file and a remedy."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0)
        raise AuditError(
            f"{path}: cannot {doing}: {error.strerror or error}" + (f" ({advice})" if advice else "")
        ) from error


def file_name(number: int) -> str:
    """Return the name of the file of a number, from 1. Beyond 999999 names are longer; files are ordered by number."""
    return f"audit-{number:06}.jsonl"


def number_of(path: Path) -> int:
    """Return the number in a file's name; 0 if it is not the name of a file of a log."""
    found = _NAME.fullmatch(path.name)
    return int(found[1]) if found and path.name == file_name(int(found[1])) else 0


def log_bytes(files: Iterable[Path]) -> int:
    """Return the size of files in bytes; a file that cannot be read counts as empty: reading it says why."""
    total = 0
    for file in files:
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def chain_files(folder: Path) -> list[Path]:
    """Return the files of a log in the order in which they were written; other files are ignored."""
    with naming(folder, "read the folder of the audit log"):
        files = sorted(filter(number_of, folder.iterdir()), key=number_of)
    for file in files:
        if not file.is_file():
            raise AuditError(f"{file}: not a regular file")
    return files
