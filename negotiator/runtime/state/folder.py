"""The folder of a state: checked before it is used, locked by one process at a time, with the id of its central manager.

Several central managers may share a state: each has an audit log of its own, and the state knows a record of each log.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from negotiator import posix
from negotiator.errors import StateError
from negotiator.files import (
    UntrustedError,
    check_not_world_writable,
    check_owner,
    open_lock,
    open_regular,
    replace_file,
)

_FILE = "state.sqlite"
_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database
LOCK_FILE: Final = "state.lock"
_ID_FILE: Final = "manager.id"
_MODE: Final = 0o640
_LONGEST: Final = 100


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


@attrs.define(eq=False)
class FolderLock:
    """A lock that a process holds until it releases it or ends."""

    folder: Path
    _descriptor: int = attrs.field(default=-1, init=False)

    def take(self) -> bool:
        """Take the lock; False if another process holds it.

        :raises OSError: the user of this process may not.
        """
        if self._descriptor >= 0:
            return True
        with contextlib.ExitStack() as undo:
            descriptor = open_lock(self.folder / LOCK_FILE)
            undo.callback(os.close, descriptor)
            try:
                posix.lock_file(descriptor)
            except BlockingIOError:
                return False
            undo.pop_all()
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Release the lock, if it is held."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def read_manager_id(folder: Path) -> str:
    """Return the id in the folder of a state; empty if there is none: no other manager shares the state.

    :raises OSError: it cannot be read.
    """
    try:
        with os.fdopen(open_regular(folder / _ID_FILE), "rb") as opened:
            return opened.read(_LONGEST).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""


def make_manager_id(folder: Path) -> str:
    """Return the id in the folder of a state; make one if there is none.

    :raises OSError: it cannot be read or written.
    """
    if not (found := read_manager_id(folder)):
        found = secrets.token_hex(16)
        replace_file(folder / _ID_FILE, f"{found}\n".encode(), mode=_MODE)
    return found
