"""Checks the folder and the files of the state before they are used."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from negotiator.errors import StateError
from negotiator.files import UntrustedError, check_not_world_writable, check_owner

_FILE = "state.sqlite"
_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database


def check_files(folder: Path) -> None:
    """Check that not every user may write the state, and that its files are regular.

    Another user may own it: requests of administrators are written to the state of the negotiator's user.

    :raises StateError: it is refused.
    :raises OSError: it cannot be read.
    """
    for path in _paths(folder):
        status = path.lstat()
        if path != folder and not stat.S_ISREG(status.st_mode):
            raise StateError(f"{path}: the state is refused: not a regular file")
        try:
            check_not_world_writable(path, path.stat())
        except UntrustedError as error:
            raise _refused(error) from None


def check_own(folder: Path) -> None:
    """Check that the state belongs to root or to the user of this process, who runs a negotiator with it.

    :raises StateError: it belongs to another user, who could change it meanwhile.
    :raises OSError: it cannot be read.
    """
    for path in _paths(folder):
        try:
            check_owner(path, path.stat())
        except UntrustedError as error:
            raise _refused(error) from None


def _paths(folder: Path) -> Iterator[Path]:
    yield folder
    for name in (_FILE, *(_FILE + each for each in _BESIDE)):
        if (folder / name).exists():
            yield folder / name


def _refused(error: UntrustedError) -> StateError:
    return StateError(f"{error.path}: the state is refused: {error.message} ({error.hint})")
