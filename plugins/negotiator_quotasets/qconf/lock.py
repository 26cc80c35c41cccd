"""The lock that serialises changes of a bundle by qconf."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from negotiator.plugin import open_lock
from negotiator_quotasets.qconf.errors import QconfRefusedError

_LOCK = ".qconf.lock"
_TRIES, _PAUSE = 100, 0.1  # seconds


@contextmanager
def exclusive(folder: Path | None) -> Iterator[None]:
    """Prevent other calls of qconf from changing a bundle; None is the built-in one, which can't be changed.

    Whoever may not write the folder takes no lock: the change is refused.

    :raises QconfRefusedError: another call does not release the lock in time.
    """
    if folder is None:
        yield
        return
    if not os.access(folder, os.W_OK, effective_ids=True):
        yield
        return
    descriptor = _opened(folder)
    try:
        if not any(_locked(descriptor) for _ in range(_TRIES)):
            raise QconfRefusedError(f"{folder} is being changed by another qconf: try again later")
        yield
    finally:
        os.close(descriptor)


def _opened(folder: Path) -> int:
    try:
        return open_lock(folder / _LOCK)
    except OSError as error:
        raise QconfRefusedError(f"{folder / _LOCK} can't be locked: {error.strerror}") from None


def _locked(descriptor: int) -> bool:
    """Try once to take the lock; pause after a failure."""
    import fcntl  # noqa: PLC0415 - missing on Windows, where open_lock has failed already

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_PAUSE)
        return False
    return True
