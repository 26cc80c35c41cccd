"""Writes files that did not exist: a folder to start from, such as a new bundle or plugin, never changes what is there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from negotiator.errors import CommandError


def write_new(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is made if it is missing. Files that are there already stay as they are, and then nothing is written.

    :param files: contents by name, relative to the folder, with ``/`` between folders.
    :raises CommandError: a file exists, or one cannot be written.
    """
    paths = {folder / name: content for name, content in files.items()}
    there = [str(path) for path in paths if path.exists() or path.is_symlink()]
    if there:
        exist, them = ("exists", "the file") if len(there) == 1 else ("exist", "the files")
        raise CommandError(
            f"{', '.join(there)}: {exist} already, and nothing was written; name another folder, or move {them} away"
        )
    try:
        for path, content in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as opened:
                opened.write(content)
    except OSError as error:
        raise CommandError(f"{error.filename or folder}: cannot be written: {error.strerror}") from None
