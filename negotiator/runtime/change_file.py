"""Changes a file of a bundle: the whole bundle is checked with it, then it is written at once, and the old one kept."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import attrs

from negotiator.bundle import BundleCheck
from negotiator.bundle.folder import leads_out
from negotiator.errors import CommandError
from negotiator.records import Problem

_LOCK = ".change.lock"
_MODE = 0o644  # of a file that was not there
_TRIES, _PAUSE = 300, 0.1  # for the lock; seconds


class ChangeError(CommandError):
    """A file that can't be changed: which, why, and what to do about it."""


@attrs.frozen
class FileChange:
    """What came of a change: with errors among the problems nothing was written."""

    digest: str  # of the bundle with the change
    problems: tuple[Problem, ...]
    written: bool
    kept: Path | None = None  # the copy of the old file, if there was one
    superseded: tuple[Path, ...] = ()  # what became of the files that had to go


def change_file(
    folder: Path,
    name: str,
    content: bytes,
    examine: Callable[[Mapping[str, bytes | None]], BundleCheck],
    now: float,
    superseded: Sequence[str] = (),
) -> FileChange:
    """Give a file of a bundle other contents, if the bundle is then still without errors.

    Of a link what it points to is written, if that is in the bundle too. The old contents are kept beside it as ``NAME.TIME~``, which a bundle does not read. A crash leaves the old file or
    the new one, never part of one. Two changes at a time take turns.

    :param examine: looks at the bundle with the contents that files are to have; None where one is to be gone.
    :param superseded: files beside it that go once it is written: they are renamed as the copy of an old file is named. A crash may leave some of them.
    :raises ChangeError: the file can't be written; nothing was changed.
    """
    try:
        with (folder / _LOCK).open("a") as lock:
            _take(lock.fileno(), folder)
            target = _target(folder, name)
            _check_superseded(folder, name, superseded, target)
            files: dict[str, bytes | None] = dict.fromkeys(_names(folder, name, target), content)
            examination = examine({**files, **dict.fromkeys(superseded)})
            if examination.bundle is None:
                return FileChange(examination.digest, examination.problems, written=False)
            kept = _keep(folder, name, now)
            _replace(target, content, target.stat() if kept else None)
            try:
                gone = _retire(folder, superseded, now)
            except OSError:
                _undo(target, kept)
                raise
            return FileChange(
                examination.digest, examination.problems, written=True, kept=kept, superseded=gone
            )
    except OSError as error:
        raise ChangeError(f"{folder / name} can't be changed: {error.strerror or error}") from None


def _take(descriptor: int, folder: Path) -> None:
    """Take the lock. Whoever may read the folder may hold it: that must not keep others waiting without an end."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE)
        else:
            return
    raise ChangeError(f"{folder} can't be changed: somebody else is changing it: try again later")


def _target(folder: Path, name: str) -> Path:
    """What is to be written: what a link points to, else the file itself."""
    path = folder / name
    if leads_out(folder, path):
        there = os.path.realpath(path)
        raise ChangeError(f"{path} can't be changed: it is a link out of the bundle, to {there}: change that")
    return Path(os.path.realpath(path))


def _names(folder: Path, name: str, target: Path) -> set[str]:
    """The names in the bundle that then have the new contents: links to the same file have them too."""
    own = str(target.relative_to(os.path.realpath(folder)))
    links = {each.name for each in folder.iterdir() if Path(os.path.realpath(each)) == target}
    counted = {each for each in {own, *links} if not each.endswith("~") and not f"/{each}".count("/.")}
    return {name, *counted}


def _keep(folder: Path, name: str, now: float) -> Path | None:
    """Copy the old file under a name that no earlier copy has."""
    old = folder / name
    if not old.exists():
        return None
    kept = _name_of_copy(folder, name, now)
    _replace(kept, old.read_bytes(), old.stat())
    return kept


def _check_superseded(folder: Path, name: str, superseded: Sequence[str], target: Path) -> None:
    """Refuse what would take the new file away, or leave a link that leads nowhere."""
    for old in superseded:
        real = Path(os.path.realpath(folder / old))
        if real == target:
            raise ChangeError(f"{folder / old} can't go: it is the file that is to be written, {name}")
        links = (each for each in folder.iterdir() if each.is_symlink() and each.name not in superseded)
        if link := next((each for each in links if Path(os.path.realpath(each)) == real), None):
            raise ChangeError(f"{folder / old} can't go: {link} is a link to it: remove that first")


def _retire(folder: Path, superseded: Sequence[str], now: float) -> tuple[Path, ...]:
    """Rename files as copies of old ones are named: all of them, or none where one can't be."""
    gone: list[Path] = []
    try:
        for name in superseded:
            kept = _name_of_copy(folder, name, now)
            (folder / name).rename(kept)
            gone.append(kept)
        if gone:
            _sync(folder)
    except OSError:
        for name, kept in zip(superseded, gone, strict=False):
            kept.rename(folder / name)
        raise
    return tuple(gone)


def _undo(target: Path, kept: Path | None) -> None:
    """Give a file that was written the contents back that it had."""
    if kept is None:
        target.unlink()
        _sync(target.parent)
    else:
        _replace(target, kept.read_bytes(), kept.stat())


def _name_of_copy(folder: Path, name: str, now: float) -> Path:
    stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in range(1, 1000):
        kept = folder / f"{name}.{stamp}{'' if number == 1 else f'-{number}'}~"
        if not os.path.lexists(kept):
            return kept
    raise OSError(0, "there are too many copies of the same second")


def _replace(path: Path, content: bytes, like: os.stat_result | None) -> None:
    """Write a file beside, make it durable, and let it take the place of the one that is there.

    It belongs to whom the one that it is ``like`` belongs, as far as this process can give files away.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
            opened.flush()
            if like is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(opened.fileno(), like.st_uid, like.st_gid)
            os.fchmod(opened.fileno(), like.st_mode & 0o777 if like else _MODE)
            os.fsync(opened.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """Make durable which files are in a folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
