"""The lock of the folder of a state: one process at a time writes the files in it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

import attrs

from negotiator import posix
from negotiator.files import open_lock

LOCK_FILE: Final = "state.lock"


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
