"""Code that only root and the caller could have written: of a dropped-in plugin, which is read, and of a module that a bundle names.

A file is refused if it, or a folder above it up to and including the plugins folder, is world-writable or belongs to
another user. Links are followed step by step, and every folder on the way is checked in the same way. A link that leads
out of the plugins folder is checked from the root of the file system on. There a folder with the sticky bit may be
world-writable: users cannot replace files of others in it.

The opened file is checked and read, and its content is executed, so that the file can't be replaced in between. A module is found like any other,
without executing it. Refused are files that another user could have written: the module or anything in its package, what Python cached of it, and the
folder in which it was found.
"""

from __future__ import annotations

import importlib.util
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from negotiator import posix
from negotiator.files import UntrustedError as UntrustedError
from negotiator.files import check_owner, check_trusted

MAX_BYTES = 4_000_000
MAX_LINKS = 40

_OPEN = os.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
_CACHE = "__pycache__"


def read_trusted(file: Path, root: Path) -> bytes:
    """Return the bytes of ``file``, which is in the plugins folder ``root``.

    :raises UntrustedError: the file is refused.
    :raises OSError: it can't be read.
    """
    top = root.resolve(strict=True)
    target = follow_trusted(top, file.relative_to(root))
    descriptor = os.open(target, _OPEN)
    with os.fdopen(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UntrustedError(target, "not a regular file", "a plugin is a .py file or a package")
        check_trusted(target, status)
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise UntrustedError(target, f"larger than {MAX_BYTES} bytes", "install it as a package instead")
    return content


def check_folder(root: Path) -> None:
    """Check the plugins folder itself.

    :raises UntrustedError: it is refused.
    :raises OSError: it can't be read.
    """
    top = root.resolve(strict=True)
    check_trusted(top, top.stat())


def follow_trusted(top: Path, relative: Path) -> Path:
    """Return the path that a name in the folder ``top`` leads to, without links; check every folder on the way.

    :raises UntrustedError: another user could have written one of the folders.
    """
    target = top
    for folder, step in _steps(top, relative):
        status = folder.stat()
        inside = folder.is_relative_to(top)
        if inside or not status.st_mode & stat.S_ISVTX:
            check_trusted(folder, status)
        else:
            check_owner(folder, status)
        target = step
    return target


def _steps(top: Path, relative: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each folder in which a name is looked up, and the path found there; links are replaced by their targets."""
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


def check_module(name: str) -> None:
    """Check the files of a module and of the packages that contain it; a missing module is left to the import.

    The owner of the program's own files is trusted: they could change the program itself.

    :raises UntrustedError: another user could have written one of them.
    :raises OSError: one of them can't be read.
    """
    top = name.partition(".")[0]
    spec = importlib.util.find_spec(top)
    if spec is None:
        return
    owners = {Path(__file__).stat().st_uid}
    places = [Path(each) for each in spec.submodule_search_locations or ()]
    if spec.has_location and spec.origin:
        places.append(Path(spec.origin))
    for place in places:
        for path in _with_contents(place, top):
            check_trusted(path, path.stat(), owners)


def _with_contents(place: Path, name: str) -> Iterator[Path]:
    """Yield the folder of a module or package, all that is in the package, and what is cached of the module."""
    yield place.parent
    yield place
    if not place.is_dir():
        cached = place.parent / _CACHE
        if cached.is_dir():
            yield cached
            yield from cached.glob(f"{name}.*.pyc")
        return
    for folder, folders, files in os.walk(place):
        for each in (*folders, *files):
            path = Path(folder, each)
            if path.exists():  # a link that leads nowhere can't be imported
                yield path
