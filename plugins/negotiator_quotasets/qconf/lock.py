"""One change of a bundle at a time: what is read, changed and written again must not change in between."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from negotiator_quotasets.qconf.refusal import QconfRefusedError

_TRIES, _PAUSE = 100, 0.1  # seconds


@contextmanager
def alone(folder: Path | None) -> Iterator[None]:
    """Keep other calls of qconf from changing this bundle; the built-in one, which is None, can't be changed anyway.

    The folder itself is locked, which needs no file and ends with the process.

    :raises RefusedError: another one does not come to its end.
    """
    if folder is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if not any(_locked(descriptor) for _ in range(_TRIES)):
            raise QconfRefusedError(f"{folder} is being changed by another qconf: try again later")
        yield
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_PAUSE)
        return False
    return True
