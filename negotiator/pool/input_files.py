"""Finds the files to read, and computes the digest of each while it is read."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple, TypeAlias

from negotiator.errors import PoolError
from negotiator.files import open_regular
from negotiator.pool.parsed_ad import UnreadFile
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
STDIN: Final = "-"
_DOCUMENTATION: Final = frozenset({"readme", "index"})
_PROSE: Final = frozenset({".md", ".rst"})
_PLAIN: Final = frozenset({"", ".txt"})
# What the program writes itself: a folder with such a file is a state or an audit log. Those rooms are above this one.
_OWN_FILE: Final = re.compile(r"state\.sqlite|audit\.lock|audit-[0-9]{6,12}\.jsonl")


class FileStatus(NamedTuple):
    """The size of a file in bytes, and the time of its last change in nanoseconds."""

    size: int
    changed: int


class FileState(NamedTuple):
    """The status of a file when it was opened, and the SHA-256 of all its bytes."""

    status: FileStatus
    digest: bytes


class HashedStream:
    """A file that is open for reading."""

    def __init__(self, stream: BinaryIO) -> None:
        status = os.fstat(stream.fileno())
        self.status = FileStatus(status.st_size, status.st_mtime_ns)
        self._stream = stream
        self._hash = hashlib.sha256()
        self._is_complete = False

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most so many; none at the end.

        :raises OSError: they cannot be read.
        """
        data = self._stream.read(size)
        self._hash.update(data)
        self._is_complete |= not data
        return data

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def state(self) -> FileState | None:
        """Return the state of the file; None unless it was read to its end."""
        return FileState(self.status, self._hash.digest()) if self._is_complete else None


class InputFile(NamedTuple):
    """A file to read: its name in messages, its path (None for standard input), and whether the caller named it."""

    name: str
    path: Path | None
    is_named: bool = False

    @property
    def size(self) -> int:
        """The size of the file in bytes; 0 if it is not known."""
        try:
            return 0 if self.path is None else self.path.stat().st_size
        except OSError:  # reading it says why
            return 0

    def open(self, stdin: BinaryIO | None) -> BinaryIO:
        """Open the file for reading.

        :raises OSError: the file cannot be opened, or is not a regular file.
        """
        if self.path is None:
            if stdin is None and sys.stdin is None:
                raise OSError(errno.EBADF, "standard input is closed")
            return stdin or sys.stdin.buffer
        return os.fdopen(open_regular(self.path), "rb")


Input: TypeAlias = InputFile | Problem | UnreadFile


def find_inputs(paths: Sequence[Path | Literal["-"]]) -> Iterator[Input]:
    """Yield the files of these folders, files and ``-``, in order; those of a folder by name.

    In folders, hidden files, *.md, *.rst, READMEs and INDEXes are skipped, and so are audit logs and states of the program; symbolic
    links to folders are not followed.

    :raises PoolError: a path does not exist; raised before anything is yielded.
    """
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            raise PoolError(
                f"{path} does not exist: name a folder or file of ads, or - to read them from standard input"
            )
    for path in paths:
        if path == STDIN:
            yield InputFile("<stdin>", None, is_named=True)
        elif Path(path).is_dir():
            yield from _folder(Path(path))
        else:
            yield InputFile(str(path), Path(path), is_named=True)


def _folder(folder: Path) -> Iterator[Input]:
    errors: list[OSError] = []
    empty = True
    for where, folders, names in os.walk(folder, onerror=errors.append):
        if any(map(_OWN_FILE.fullmatch, names)):
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not _is_skipped(name):
                empty = False
                yield _entry(Path(where, name))
        for error in errors:
            yield _unread_folder(error)
        errors.clear()
    for error in errors:
        empty = False
        yield _unread_folder(error)
    if empty:
        yield Problem(Severity.WARNING, Source(str(folder)), "the folder holds no files of ads")


def _unread_folder(error: OSError) -> UnreadFile:
    message = f"the folder is not read: {error.strerror}"
    return UnreadFile(Problem(Severity.ERROR, Source(str(error.filename)), message))


def _entry(path: Path) -> InputFile | Problem:
    if path.is_file() or (
        path.is_symlink() and not path.exists()
    ):  # opening a broken link gives the better message
        return InputFile(str(path), path)
    return Problem(
        Severity.WARNING,
        Source(str(path)),
        "not a regular file; it is not read",
        "to read a pipe, give it as standard input (-)",
    )


def _is_skipped(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122 - only a name
    return name.startswith(".") or suffix in _PROSE or (stem in _DOCUMENTATION and suffix in _PLAIN)
