"""Replaces a file of a bundle: the whole bundle is checked with it, then it is written atomically; the old file is saved."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import attrs

from negotiator import posix
from negotiator.bundle import BundleCheck
from negotiator.bundle.folder import leads_out
from negotiator.errors import CommandError
from negotiator.files import (
    UntrustedError,
    check_regular,
    check_trusted,
    open_lock,
    replace_file,
    sync_folder,
)
from negotiator.records import Problem

_LOCK = ".change.lock"
_TRIES, _PAUSE = 300, 0.1  # for the lock; seconds


class ChangeError(CommandError):
    """A file cannot be changed: which, why, and what to do."""


class ChangedMeanwhileError(ChangeError):
    """A file has other contents than those that a change was made from."""


@attrs.frozen
class FileChange:
    """The result of a change. With errors among the problems nothing was written."""

    digest: str  # of the bundle with the change
    problems: tuple[Problem, ...]
    written: bool
    backup: Path | None = None  # the copy of the old file; None for a new file
    superseded: tuple[Path, ...] = ()  # the new paths of the retired files


def change_file(
    folder: Path,
    name: str,
    content: bytes,
    examine: Callable[[Mapping[str, bytes | None]], BundleCheck],
    now: float,
    superseded: Sequence[str] = (),
    expected: str | None = None,
) -> FileChange:
    """Replace a file of a bundle, if the bundle has no errors with it.

    If the name is a link to a file of the bundle, that file is written. The old contents are saved beside it as
    ``NAME.TIME~``, which a bundle does not read. A crash leaves the old file or the new one, never part of one. Concurrent
    changes wait for each other.

    :param examine: checks the bundle with other contents of some files; None for a file to treat as removed.
    :param superseded: files beside it to retire once it is written: they are renamed to ``NAME.TIME~`` too. A crash may
        leave some of them.
    :param expected: the SHA-256 of the contents to replace, empty for a file that does not exist; None: whatever they are.
    :raises ChangedMeanwhileError: the contents are others; nothing was changed.
    :raises ChangeError: the file cannot be written; nothing was changed.
    """
    try:
        _check_folder(folder)
        with os.fdopen(open_lock(folder / _LOCK), "r+b") as lock:
            _take(lock.fileno(), folder)
            target = _target(folder, name)
            _check_superseded(folder, name, superseded, target)
            _check_expected(target, expected)
            files: dict[str, bytes | None] = dict.fromkeys(_names(folder, name, target), content)
            examination = examine({**files, **dict.fromkeys(superseded)})
            if examination.bundle is None:
                return FileChange(examination.digest, examination.problems, written=False)
            copy = _save(folder, name, now)
            replace_file(target, content, target.stat() if copy else None)
            try:
                gone = _retire(folder, superseded, now)
            except OSError:
                _undo(target, copy)
                raise
            return FileChange(
                examination.digest, examination.problems, written=True, backup=copy, superseded=gone
            )
    except OSError as error:
        raise ChangeError(f"{folder / name} cannot be changed: {error.strerror or error}") from None


def _check_folder(folder: Path) -> None:
    """Raise ChangeError if other users may write the folder: they could replace the lock."""
    try:
        check_trusted(folder, folder.stat())
    except UntrustedError as error:
        raise ChangeError(f"{error}: nothing was changed ({error.hint})") from None


def _take(descriptor: int, folder: Path) -> None:
    """Take the lock; wait for at most 30 seconds."""
    for _ in range(_TRIES):
        try:
            posix.lock_file(descriptor)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return
    raise ChangeError(f"{folder} cannot be changed: another change is in progress; try again later")


def _target(folder: Path, name: str) -> Path:
    """Return the file to write: the target of a link, else the file itself."""
    path = folder / name
    if leads_out(folder, path):
        there = os.path.realpath(path)
        raise ChangeError(f"{path} cannot be changed: it is a link out of the bundle; change {there} instead")
    if path.exists():
        check_regular(path)
    return Path(os.path.realpath(path))


def _check_expected(target: Path, expected: str | None) -> None:
    found = hashlib.sha256(target.read_bytes()).hexdigest() if target.exists() else ""
    if expected not in {None, found}:
        raise ChangedMeanwhileError(f"{target} was changed meanwhile: nothing was written")


def _names(folder: Path, name: str, target: Path) -> set[str]:
    """Return the names in the bundle that get the new contents: the file, and links to it."""
    own = str(target.relative_to(os.path.realpath(folder)))
    links = {each.name for each in folder.iterdir() if Path(os.path.realpath(each)) == target}
    counted = {each for each in {own, *links} if not each.endswith("~") and not f"/{each}".count("/.")}
    return {name, *counted}


def _save(folder: Path, name: str, now: float) -> Path | None:
    """Copy the old file under a new name; None if there is no old file."""
    old = folder / name
    if not old.exists():
        return None
    copy = _name_of_copy(folder, name, now)
    replace_file(copy, old.read_bytes(), old.stat())
    return copy


def _check_superseded(folder: Path, name: str, superseded: Sequence[str], target: Path) -> None:
    """Raise ChangeError if retiring a file would remove the new file, or leave a dangling link."""
    for old in superseded:
        real = Path(os.path.realpath(folder / old))
        if real == target:
            raise ChangeError(f"{folder / old} cannot be retired: it is the file to write, {name}")
        links = (each for each in folder.iterdir() if each.is_symlink() and each.name not in superseded)
        if link := next((each for each in links if Path(os.path.realpath(each)) == real), None):
            raise ChangeError(f"{folder / old} cannot be retired: {link} is a link to it; remove that first")


def _retire(folder: Path, superseded: Sequence[str], now: float) -> tuple[Path, ...]:
    """Rename files to the names of copies: all of them, or none if one cannot be renamed."""
    gone: list[Path] = []
    try:
        for name in superseded:
            copy = _name_of_copy(folder, name, now)
            (folder / name).rename(copy)
            gone.append(copy)
        if gone:
            sync_folder(folder)
    except OSError:
        for name, copy in zip(superseded, gone, strict=False):
            copy.rename(folder / name)
        raise
    return tuple(gone)


def _undo(target: Path, copy: Path | None) -> None:
    """Restore the old contents of a file; remove a new one."""
    if copy is None:
        target.unlink()
        sync_folder(target.parent)
    else:
        replace_file(target, copy.read_bytes(), copy.stat())


def _name_of_copy(folder: Path, name: str, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in range(1, 1000):
        copy = folder / f"{name}.{stamp}{'' if number == 1 else f'-{number}'}~"
        if not os.path.lexists(copy):
            return copy
    raise OSError(0, "too many copies of the same second")
