"""The writer of an audit log. ``docs/audit.md`` describes the effects of a crash, a full disk and a second writer."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Self

import attrs

from negotiator import posix
from negotiator.audit import bundles, chain
from negotiator.audit.chain import START, ChainLink, Seal
from negotiator.audit.errors import AuditBusyError, AuditError, naming
from negotiator.audit.folder import chain_files, file_name, number_of
from negotiator.audit.newest import last_cycle, last_link, read_tail, unfinished
from negotiator.files import open_lock, sync_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import TracebackType

_LOCK = "audit.lock"
_FILE_MODE = 0o640
_FOLDER_MODE = 0o750
# Not O_APPEND: writes have explicit offsets, since a repair has to overwrite.
_FLAGS = os.O_RDWR | posix.O_NOFOLLOW | posix.O_CLOEXEC


@attrs.frozen
class _End:
    """The end of the log: the size of its last file, the last record of the chain, and the number of the last cycle."""

    size: int
    link: ChainLink
    cycle: int = 0


class AuditLog:
    """An audit log open for writing, by one process at a time.

    ``notices`` are sentences on repairs that were made when it was opened.
    """

    def __init__(self, folder: Path, seal: Seal, rotate_bytes: int, lock: int) -> None:
        self._folder = folder
        self._seal = seal
        self._rotate_bytes = rotate_bytes
        self._lock = lock
        self._fd = -1
        self._file = folder / file_name(1)
        self._end = self._synced = _End(0, START)
        self._usable = True
        self._stored_bundle = ""
        self.notices: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path, *, key: bytes | None = None, rotate_bytes: int) -> AuditLog:
        """Open the log in the folder ``path``; make it if it is missing; repair a torn last line.

        :param key: seals the chain; None for a chain without a key.
        :param rotate_bytes: a new file is begun before a file would exceed this size. The records of one call of
            ``append`` stay in one file, which can be as large as they are.
        :raises AuditError: it cannot be written, another process has it open, its last record does not verify, or it was
            written with another key.
        """
        with naming(path, "make the folder of the audit log"):
            if not path.is_dir():
                path.mkdir(mode=_FOLDER_MODE, parents=True)
                sync_folder(path.parent)
        log = cls(path, Seal(key), rotate_bytes, _locked(path / _LOCK))
        try:
            log._resume()
        except BaseException:
            log.close()
            raise
        return log

    @property
    def folder(self) -> Path:
        """The folder of the log."""
        return self._folder

    @property
    def seal(self) -> Seal:
        """Hashes the records of this log."""
        return self._seal

    @property
    def head(self) -> str:
        """``SEQ:HASH`` of the last record; stored elsewhere, it shows later whether the end of the log was cut off."""
        return str(self._end.link)

    @property
    def last_cycle(self) -> int:
        """The number of the last cycle that has records in the log; 0 if none has."""
        return self._end.cycle

    def store_bundle(self, digest: str, files: Mapping[str, bytes]) -> None:
        """Store the files of a bundle beside the log; before the first record that names its digest.

        :raises AuditError: it cannot be written.
        """
        if digest != self._stored_bundle:
            bundles.store_bundle(self._folder, digest, files)
            self._stored_bundle = digest

    def append(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Write records, all or none; they are durable after ``sync``.

        :param records: mappings of plain JSON values with a ``kind``, without ``seq``, ``prev``, ``keyed`` and ``hash``.
        :raises AuditError: none of them was written, and the log ends as before; if the previous file could not be made
            durable, as after the last sync.
        """
        self._check()
        records = tuple(records)
        data, link = chain.write(records, self._end.link, self._seal)
        if not data:
            return
        cycle = max(each.get("cycle", 0) for each in records)
        if self._end.size and self._end.size + len(data) > self._rotate_bytes:
            self._rotate()
        before = self._end
        try:
            with naming(self._file, "write the audit log"):
                _write_at(self._fd, data, before.size)
            self._end = _End(before.size + len(data), link, max(cycle, before.cycle))
        except BaseException:
            self._back_to(before)
            raise

    def sync(self) -> None:
        """Make all appended records durable.

        :raises AuditError: the records appended since the last sync were removed. After a failed fsync it is unknown what
            is on disk, and a second fsync would report success (fsync(2)), so they must be appended again.
        """
        self._check()
        try:
            with naming(self._file, "make the audit log durable"):
                os.fsync(self._fd)
        except BaseException:
            self._back_to(self._synced)
            raise
        self._synced = self._end

    def close(self) -> None:
        """Close the log and release its lock; records that were not synced are written by the system."""
        self._usable = False
        for fd in (self._fd, self._lock):
            if fd >= 0:
                os.close(fd)
        self._fd = self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _resume(self) -> None:
        files = chain_files(self._folder)
        if not files:
            self._fd = self._new_file(self._file)
            return
        self._file = files[-1]
        link, whole, torn = START, 0, b""
        with naming(self._file, "open the audit log"):
            self._fd = os.open(self._file, _FLAGS)
            size = os.fstat(self._fd).st_size
        for file in reversed(files):
            tail = read_tail(file)
            if file is self._file:
                whole, torn = size - len(tail.torn), tail.torn
            elif tail.torn:
                raise AuditError(
                    f"{file}: its last line is torn though files follow it (negotiator audit verify)"
                )
            if tail.line:
                link = last_link(file, tail.line, self._seal)
                self.notices = unfinished(file, tail.line)
                break
        self._end = self._synced = _End(whole, link, last_cycle(files))
        if torn:
            self._repair(torn)
        self.sync()

    def _repair(self, torn: bytes) -> None:
        """Replace a torn line with a record of the repair.

        The record is written over the torn line before the rest of the line is cut off, so that no crash and no full disk
        leaves a log that was cut without a record of it.
        """
        start, digest = self._end.size, hashlib.sha256(torn).hexdigest()
        record = {"kind": "repair", "file": self._file.name, "bytes": len(torn), "sha256": digest}
        data, link = chain.write([record], self._end.link, self._seal)
        with naming(self._file, "repair the torn last line of the audit log"):
            try:
                _write_at(self._fd, data, start)
                os.ftruncate(self._fd, start + len(data))
            except OSError:
                _write_at(self._fd, torn, start)  # these blocks are allocated already
                os.ftruncate(self._fd, start + len(torn))
                raise
        self._end = _End(start + len(data), link, self._end.cycle)
        notice = (
            f"the torn last line was cut off: {len(torn)} bytes, sha256 {digest} (recorded as {link.seq})"
        )
        self.notices += (f"{self._file}: {notice}",)

    def _rotate(self) -> None:
        self.sync()  # before the next file exists, so that only the last one can be torn
        file = self._folder / file_name(number_of(self._file) + 1)
        fd = self._new_file(file)
        os.close(self._fd)
        self._fd, self._file = fd, file
        self._end = self._synced = _End(0, self._end.link, self._end.cycle)

    def _new_file(self, file: Path) -> int:
        with naming(file, "begin a file of the audit log"):
            fd = os.open(file, _FLAGS | os.O_CREAT | os.O_EXCL, _FILE_MODE)
            try:
                sync_folder(self._folder)
            except BaseException:
                os.close(fd)
                file.unlink(missing_ok=True)
                raise
        return fd

    def _back_to(self, end: _End) -> None:
        try:
            os.ftruncate(self._fd, end.size)
        except OSError:
            self._usable = False
        self._end = end

    def _check(self) -> None:
        """Raise AuditError if the file was moved, replaced or changed by another program, or if its end is unknown."""
        if not self._usable:
            raise AuditError(
                f"{self._file}: the audit log is closed, or its end is unknown after an error: open it again"
            )
        with naming(self._file, "find the audit log"):
            named, held = self._file.stat(), os.fstat(self._fd)
        if not os.path.samestat(named, held):
            raise AuditError(
                f"{self._file}: moved or replaced by another program (the log rotates by itself)"
            )
        if held.st_size != self._end.size:
            raise AuditError(f"{self._file}: changed by another program (negotiator audit verify)")


def _locked(path: Path) -> int:
    with naming(path, "lock the audit log"):
        fd = open_lock(path)
        try:
            posix.lock_file(fd)
        except BlockingIOError:
            os.close(fd)
            raise AuditBusyError(
                f"{path.parent}: another process has this audit log open for writing"
            ) from None
        except BaseException:
            os.close(fd)
            raise
    return fd


def _write_at(fd: int, data: bytes, offset: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(fd, rest, offset)
        rest, offset = rest[written:], offset + written
