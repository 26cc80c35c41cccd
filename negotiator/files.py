"""Open files that the program relies on: regular, not written by other users; locks; replace files as a whole.

A FIFO in place of a file would block the program, a device would have endless contents or an effect of its own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Collection
from pathlib import Path

from negotiator import posix
from negotiator.errors import NegotiatorError

_MODE = 0o644  # of a new file

# The descriptors of this process: whoever started it opened them, so a pipe there has a writer.
_OWN_DESCRIPTOR = re.compile(r"/dev/(?:stdin|fd/[0-9]+)|/proc/self/fd/[0-9]+")


class UntrustedError(NegotiatorError):
    """A file or folder (``path``) that another user could have written; ``hint`` is the remedy."""

    def __init__(self, path: Path, message: str, hint: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message
        self.hint = hint


def check_trusted(path: Path, status: os.stat_result, owners: Collection[int] = ()) -> None:
    """Check that only root and the caller, and the group of the file, could have written a file or folder.

    :param status: of the path, or of the file that was opened there.
    :param owners: further users who may own it.
    :raises UntrustedError: it is world-writable, or belongs to another user.
    """
    check_not_world_writable(path, status)
    check_owner(path, status, owners)


def check_not_world_writable(path: Path, status: os.stat_result) -> None:
    """Check that not every user may write a file or folder; on a read-only file system no user may.

    (A ConfigMap of Kubernetes is a world-writable folder, mounted read-only.)

    :raises UntrustedError: everybody may.
    """
    if posix.HAS_OWNERS and status.st_mode & stat.S_IWOTH and not posix.is_on_read_only_system(path):
        raise UntrustedError(path, "world-writable, so any user could have written it", f"chmod o-w {path}")


def check_owner(path: Path, status: os.stat_result, owners: Collection[int] = ()) -> None:
    """Check that a file or folder belongs to root, to the caller or to one of ``owners``.

    :raises UntrustedError: it belongs to another user.
    """
    caller = posix.effective_user()
    if posix.HAS_OWNERS and status.st_uid not in {0, caller, *owners}:
        message = f"belongs to user {status.st_uid}, neither to root nor to the caller (user {caller})"
        raise UntrustedError(path, message, f"chown {caller} {path}")


def check_regular(path: Path | str) -> None:
    """Check that a path leads to a regular file, or is a descriptor of this process, such as ``/dev/stdin``.

    :raises OSError: it does not exist, or leads to anything else, such as a FIFO or a device.
    """
    mode = Path(path).stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode) and not _OWN_DESCRIPTOR.fullmatch(str(path)):
        raise _not_regular(path)


def open_regular(path: Path | str, flags: int = os.O_RDONLY) -> int:
    """Open a regular file and return its descriptor; never wait for the writer of a FIFO.

    A path such as ``/dev/stdin`` or ``/dev/fd/3`` is a descriptor of this process, which may be a pipe.

    :raises OSError: it cannot be opened, or is anything but a regular file.
    """
    flags |= posix.O_CLOEXEC | posix.O_NOCTTY
    check_regular(path)  # before it is opened, which would have an effect on some devices
    if _OWN_DESCRIPTOR.fullmatch(str(path)):
        return os.open(path, flags)
    descriptor = os.open(path, flags | posix.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _not_regular(path)
    return descriptor


def open_lock(path: Path) -> int:
    """Open a lock file, to be locked with ``flock``, that other users cannot open; make it if it is missing.

    Everybody who may open a file may lock it, and keep it locked. So only the owner of the folder may open it, and the group
    of the folder if it may write the folder.

    :raises OSError: it cannot be opened, is not a regular file, or other users may open it and that cannot be changed; or the system has no
        locks of files.
    """
    if not posix.HAS_OWNERS:
        raise posix.missing("locks of files")
    folder = path.parent.stat()
    mode = 0o600 | (0o060 if folder.st_mode & stat.S_IWGRP else 0)
    flags = os.O_RDWR | os.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK | posix.O_NOCTTY
    descriptor = os.open(path, flags, 0o600)
    try:
        _make_private(descriptor, path, folder, mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _make_private(descriptor: int, path: Path, folder: os.stat_result, mode: int) -> None:
    """Give a lock file the owner of its folder and this mode; raise OSError if others may open it afterwards."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise _not_regular(path)
    with contextlib.suppress(PermissionError):
        if (status.st_uid, status.st_gid) != (folder.st_uid, folder.st_gid):
            os.fchown(descriptor, folder.st_uid, folder.st_gid)
    with contextlib.suppress(PermissionError):
        if stat.S_IMODE(status.st_mode) != mode:
            os.fchmod(descriptor, mode)
    if os.fstat(descriptor).st_mode & 0o077 & ~mode:
        raise OSError(errno.EPERM, "other users may open, and so hold, this lock", str(path))


def _not_regular(path: Path | str) -> OSError:
    return OSError(errno.EINVAL, "not a regular file", str(path))


def replace_file(
    path: Path, content: bytes, like: os.stat_result | None = None, *, mode: int = _MODE, durable: bool = True
) -> None:
    """Write a new file, and rename it over the old one: a reader sees one of the two.

    A crash of the machine leaves the old file or the new one, never part of one, if it is ``durable``. The new one gets the mode of the file with the status
    ``like``, and its owner if this process may change that; without ``like`` it gets ``mode``.

    :raises OSError: it cannot be written; the old file is unchanged.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    beside.unlink(missing_ok=True)  # of a process that was killed
    descriptor = os.open(
        beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0o600
    )
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            if like is not None and posix.HAS_OWNERS:
                with contextlib.suppress(PermissionError):
                    os.fchown(opened.fileno(), like.st_uid, like.st_gid)
            if posix.HAS_OWNERS:
                os.fchmod(opened.fileno(), like.st_mode & 0o777 if like else mode)
            if durable:
                os.fsync(opened.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable; Windows cannot open a folder for that."""
    if not posix.HAS_OWNERS:
        return
    descriptor = os.open(folder, os.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
