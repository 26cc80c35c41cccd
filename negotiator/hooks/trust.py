"""Reads the code of a dropped-in plugin, if nobody but root and the caller could have written it.

Refused is a file that is world-writable or belongs to anybody else, and one in a folder of which that is true, up to
and including the plugins folder. Links are followed step by step and every folder on the way is held to the same; a
link that leads out of the plugins folder is checked from the root of the file system on, where a folder with the
sticky bit may be world-writable: nobody can replace what belongs to others in it.

The opened file is what is checked and read, and what was read is what is executed, so that it can't be swapped in
between.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 4_000_000
MAX_LINKS = 40

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class UntrustedError(Exception):
    """A file or folder that somebody else could have written; ``path`` says which, ``hint`` what to do."""

    def __init__(self, path: Path, message: str, hint: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message
        self.hint = hint


def read_trusted(file: Path, root: Path) -> bytes:
    """The bytes of ``file``, which lies in the plugins folder ``root``.

    UntrustedError where it is refused, OSError where it can't be read.
    """
    top = root.resolve(strict=True)
    target = _follow(top, file.relative_to(root))
    descriptor = os.open(target, _OPEN)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UntrustedError(target, "not a regular file", "a plugin is a .py file or a package")
        _check(target, status)
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UntrustedError(target, f"larger than {MAX_BYTES} bytes", "install it as a package in its place")
    return content


def check_folder(root: Path) -> None:
    """UntrustedError where the plugins folder itself is refused, OSError where it can't be read."""
    top = root.resolve(strict=True)
    _check(top, top.stat())


def _follow(top: Path, relative: Path) -> Path:
    """Where a name in the plugins folder leads to, free of links; every folder on the way is checked."""
    target = top
    for folder, step in _steps(top, relative):
        status = folder.stat()
        inside = folder.is_relative_to(top)
        if inside or not status.st_mode & stat.S_ISVTX:
            _check(folder, status)
        else:
            _check_owner(folder, status)
        target = step
    return target


def _steps(top: Path, relative: Path) -> Iterator[tuple[Path, Path]]:
    """Each folder in which a name is looked up, and what that gives: links are replaced by where they point."""
    here, names, links = top, list(reversed(relative.parts)), 0
    while names:
        folder, name = here, names.pop()
        here = folder.parent if name == os.pardir else folder / name
        if here.is_symlink():
            links += 1
            if links > MAX_LINKS:
                raise UntrustedError(here, "too many links", "replace the link by a file")
            to = here.readlink()
            names.extend(reversed(to.parts[1:] if to.is_absolute() else to.parts))
            here = Path(to.anchor) if to.is_absolute() else folder
        yield folder, here


def _check(path: Path, status: os.stat_result) -> None:
    if status.st_mode & stat.S_IWOTH:
        raise UntrustedError(path, "world-writable, so anybody could have written it", f"chmod o-w {path}")
    _check_owner(path, status)


def _check_owner(path: Path, status: os.stat_result) -> None:
    caller = os.geteuid()
    if status.st_uid not in {0, caller}:
        message = f"belongs to user {status.st_uid}, neither to root nor to the caller (user {caller})"
        raise UntrustedError(path, message, f"chown {caller} {path}")
