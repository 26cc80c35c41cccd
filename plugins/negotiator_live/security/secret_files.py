"""Reads files with secrets: tokens and signing keys. As HTCondor's daemons do, it uses none that others could read or write.

Source: ``read_secure_file`` (``secure_file.cpp``).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from negotiator.plugin import open_regular

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class UnsafeFileError(OSError):
    """The file belongs to another user than this process or root, or other users may read or write it."""


def read_secret(file: Path, longest: int) -> bytes:
    """Return the content of a file.

    :param longest: bytes that it may have.
    :raises UnsafeFileError: it is not safe from other users.
    :raises OSError: it cannot be read, is no regular file, or is too long.
    """
    with os.fdopen(open_regular(file), "rb") as opened:
        status = os.fstat(opened.fileno())
        if problem := _problem(file, status):
            raise UnsafeFileError(problem)
        content = opened.read(longest + 1)
    if len(content) > longest:
        raise OSError(f"{file}: more than {longest} bytes")
    return content


def _problem(file: Path, status: os.stat_result) -> str:
    """Return why a file is not safe from other users, and what to do; "" if it is."""
    if status.st_mode & _OTHERS:
        mode = stat.S_IMODE(status.st_mode)
        return f"{file}: ignored, since other users may use it (mode {mode:04o}): chmod 600 {file}"
    if status.st_uid not in {0, os.geteuid()}:
        own = os.geteuid()
        return (
            f"{file}: ignored, since it belongs to the user id {status.st_uid}, not to root or to {own}, as which this"
            f" program runs: chown {own} {file}"
        )
    return ""
