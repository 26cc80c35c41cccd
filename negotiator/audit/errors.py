"""The exceptions of the audit log."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from negotiator.errors import NegotiatorError

if TYPE_CHECKING:
    from collections.abc import Iterator
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


class AuditError(NegotiatorError):
    """The audit log cannot be written, read or trusted: what happened to which file, and what to do.

    >>> import negotiator as n
    >>> n.run(n.read_pool("examples/first-pool"), audit_log="README.md")
    Traceback (most recent call last):
    negotiator.audit.errors.AuditError: README.md: cannot make the folder of the audit log: ...
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
