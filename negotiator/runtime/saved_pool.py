"""The ads of the last cycle, saved in the folder of the state: what other processes show of a live pool.

The file is the canonical form of the snapshot, in gzip's format. It has no claim ids: a snapshot never has them.
"""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import Final

from negotiator.defaults import SAVED_POOL
from negotiator.errors import PoolError
from negotiator.files import open_regular, replace_file
from negotiator.pool import Snapshot

_LEVEL: Final = (
    1  # the ads are seldom a tenth larger than at the highest level, which takes twenty times as long
)
_MODE: Final = 0o640
_LARGEST: Final = 4 << 30  # bytes of a snapshot


def save_pool(folder: Path, snapshot: Snapshot) -> None:
    """Replace the ads that are saved in the folder of a state.

    After a crash of the machine the file may be damaged, which a reader finds out: the next cycle writes it anew, so it is not worth
    the time to wait for the disk.

    :raises OSError: they cannot be written; the old file is unchanged.
    """
    content = gzip.compress(snapshot.encode(), _LEVEL, mtime=0)
    replace_file(folder / SAVED_POOL, content, mode=_MODE, durable=False)


def read_saved_pool(path: Path) -> Snapshot:
    """Return the ads that were saved.

    :raises PoolError: they cannot be read, or are damaged.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as opened, gzip.GzipFile(fileobj=opened) as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise PoolError(f"{path}: cannot read the saved ads: {error}") from None
    if len(data) > _LARGEST:
        raise PoolError(f"{path}: the saved ads have more than {_LARGEST} bytes")
    try:
        return Snapshot.decode(data)
    except PoolError as error:
        raise PoolError(f"{path}: cannot read the saved ads: {error}") from None
