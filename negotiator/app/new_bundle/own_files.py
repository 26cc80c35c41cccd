"""Reads an administrator's own files for a new bundle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from negotiator.errors import CommandError, InvalidCallError
from negotiator.files import open_regular
from negotiator.hooks.starting_bundles import OwnFile

_LARGEST: Final = 16 << 20  # bytes of a file


def read_own_files(paths: Sequence[Path]) -> tuple[OwnFile, ...]:
    """Return an administrator's files.

    :raises InvalidCallError: one is named twice.
    :raises CommandError: one cannot be read, or is larger than 16 MiB.
    """
    for number, path in enumerate(paths):
        if path in paths[:number]:
            raise InvalidCallError(f"{path}: named twice")
    return tuple(map(_read, paths))


def _read(path: Path) -> OwnFile:
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise CommandError(f"{path}: larger than {_LARGEST} bytes")
    return OwnFile(path, content)
