"""Which files are to be read, and their bytes."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple

from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STDIN: Final = "-"
_READ_BY_PEOPLE: Final = frozenset({"readme", "index"})
_PROSE: Final = frozenset({"", ".md", ".rst", ".txt"})


class PoolError(Exception):
    """The pool cannot be read at all."""


class InputFile(NamedTuple):
    """A file to read: how it is called in messages, and its path (None for standard input)."""

    name: str
    path: Path | None

    def open(self, stdin: BinaryIO | None) -> BinaryIO:
        """Open the file for reading (OSError)."""
        if self.path is None:
            if stdin is None and sys.stdin is None:
                raise OSError(errno.EBADF, "standard input is closed")
            return stdin or sys.stdin.buffer
        return self.path.open("rb")


def find_inputs(paths: Sequence[Path | Literal["-"]]) -> Iterator[InputFile | Problem]:
    """Give the files of these folders, files and ``-``, in order, those of a folder by name.

    In folders, hidden files, READMEs and INDEXes are left out, and symbolic links to folders are not followed.
    :raises PoolError: a path does not exist; before anything is given.
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
    ):  # opening a broken link says what is wrong
        return InputFile(str(path), path)
    return Problem(
        Severity.WARNING, Source(str(path)), "this is no regular file; it is not read", "name it by itself"
    )


def _is_skipped(name: str) -> bool:
    stem, suffix = os.path.splitext(name.lower())  # noqa: PTH122 - only a name
    return name.startswith(".") or (stem in _READ_BY_PEOPLE and suffix in _PROSE)
