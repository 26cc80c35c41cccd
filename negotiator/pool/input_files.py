"""Finds the files to read."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple

from negotiator.errors import PoolError
from negotiator.files import open_regular
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STDIN: Final = "-"
_DOCUMENTATION: Final = frozenset({"readme", "index"})
_PROSE: Final = frozenset({"", ".md", ".rst", ".txt"})


class InputFile(NamedTuple):
    """A file to read: its name in messages, and its path (None for standard input)."""

    name: str
    path: Path | None

    def open(self, stdin: BinaryIO | None) -> BinaryIO:
        """Open the file for reading.

        :raises OSError: the file cannot be opened, or is not a regular file.
        """
        if self.path is None:
            if stdin is None and sys.stdin is None:
                raise OSError(errno.EBADF, "standard input is closed")
            return stdin or sys.stdin.buffer
        return os.fdopen(open_regular(self.path), "rb")


def find_inputs(paths: Sequence[Path | Literal["-"]]) -> Iterator[InputFile | Problem]:
    """Yield the files of these folders, files and ``-``, in order; those of a folder by name.

    In folders, hidden files, READMEs and INDEXes are skipped, and symbolic links to folders are not followed.

    :raises PoolError: a path does not exist; raised before anything is yielded.
    """
    for path in paths:
        if path != STDIN and not os.path.lexists(path):
            raise PoolError(
                f"{path} does not exist: name a folder or file of ads, or - to read them from standard input"
            )
    for path in paths:
        if path == STDIN:
            yield InputFile("<stdin>", None)
        elif Path(path).is_dir():
            yield from _folder(Path(path))
        else:
            yield InputFile(str(path), Path(path))


def _folder(folder: Path) -> Iterator[InputFile | Problem]:
    errors: list[OSError] = []
    empty = True
    for where, folders, names in os.walk(folder, onerror=errors.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not _is_skipped(name):
                empty = False
                yield _entry(Path(where, name))
        for error in errors:
            yield Problem(
                Severity.ERROR, Source(str(error.filename)), f"the folder is not read: {error.strerror}"
            )
        errors.clear()
    for error in errors:
        empty = False
        yield Problem(
            Severity.ERROR, Source(str(error.filename)), f"the folder is not read: {error.strerror}"
        )
    if empty:
        yield Problem(Severity.WARNING, Source(str(folder)), "the folder holds no files of ads")


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
    return name.startswith(".") or (stem in _DOCUMENTATION and suffix in _PROSE)
