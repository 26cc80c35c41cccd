"""The systems whose administrators find their own words in a new bundle."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from negotiator.errors import CommandError, InvalidCallError
from negotiator.files import open_regular

_LARGEST: Final = 16 << 20  # bytes of a file


class PoolSystem(enum.StrEnum):
    """A system whose settings a new bundle has, under the name of ``--from``."""

    HTCONDOR = "htcondor"
    YUNIKORN = "yunikorn"
    GRIDENGINE = "gridengine"

    @property
    def settings_file(self) -> str:
        """The file of a new bundle that an administrator's own file replaces."""
        return _SETTINGS[self]


_SETTINGS: Final = {
    PoolSystem.HTCONDOR: "negotiator.conf",
    PoolSystem.YUNIKORN: "queues.yaml",
    PoolSystem.GRIDENGINE: "quotas.rqs",
}


def read_own_files(paths: Sequence[Path]) -> dict[Path, bytes]:
    """Return the contents of an administrator's files.

    :raises InvalidCallError: one is named twice.
    :raises CommandError: one cannot be read, or is larger than 16 MiB.
    """
    files: dict[Path, bytes] = {}
    for path in paths:
        if path in files:
            raise InvalidCallError(f"{path}: named twice")
        try:
            with os.fdopen(open_regular(path), "rb") as opened:
                files[path] = opened.read(_LARGEST + 1)
        except OSError as error:
            raise CommandError(f"{path}: cannot be read: {error.strerror}") from None
        if len(files[path]) > _LARGEST:
            raise CommandError(f"{path}: larger than {_LARGEST} bytes")
    return files


def guessed_system(paths: Sequence[Path]) -> PoolSystem | None:
    """Return the system that an administrator's files are from; None without files.

    :raises InvalidCallError, CommandError: as ``read_own_files``.
    """
    texts = [content.decode(errors="replace") for content in read_own_files(paths).values()]
    if not texts:
        return None
    if any("partitions:" in text for text in texts):
        return PoolSystem.YUNIKORN
    if any(text.lstrip().startswith(("{", "#name")) or "group_name" in text for text in texts):
        return PoolSystem.GRIDENGINE
    return PoolSystem.HTCONDOR


def named_apart(files: Mapping[Path, bytes], names: Mapping[Path, str]) -> dict[str, bytes]:
    """Return the contents of files by their names in a bundle.

    :raises InvalidCallError: two files have the same name there.
    """
    found: dict[str, bytes] = {}
    for path, name in names.items():
        if name in found:
            raise InvalidCallError(f"{path}: another file is called {name} too; rename one of them")
        found[name] = files[path]
    return found
