"""Saves the ads of a live pool as files, for commands that read files: without secrets, all of them or none."""

from __future__ import annotations

import gzip
import os
import re
import shutil
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Self

from negotiator.errors import InvalidCallError
from negotiator.files import sync_folder
from negotiator.pool.longform import whole_lines
from negotiator.pool.pool_ads import PoolAds
from negotiator.pool.secrets import is_secret

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from negotiator.records import Problem

#: The files by the MyType of their ads, in lower case; the ads of all other kinds are in ``other``.
_FILES: Final = {"machine": "slots", "scheduler": "schedds", "submitter": "submitters", "job": "jobs"}
_OTHER: Final = "other"
_SUFFIXES: Final = (".ads", ".ads.gz")
_TYPE: Final = re.compile(r'^MyType = "(\w+)"', re.MULTILINE | re.IGNORECASE)
_FOLDER_MODE, _FILE_MODE = 0o750, 0o640

_is_secret = lru_cache(maxsize=65_536)(is_secret)


class SavedAds(PoolAds):
    """Reads the ads of a pool, and writes them to files of a new folder, one for each kind.

    The folder has a temporary name until ``save``. As a context manager it is removed if that was not called.
    ``unanswered`` are the parts of the pool that did not answer.
    """

    def __init__(self, folder: Path, *, compress: bool = False, replace: bool = False) -> None:
        """Begin.

        :param compress: write gzipped files.
        :param replace: replace a folder that an earlier call saved.
        :raises InvalidCallError: the folder exists, and must not be replaced.
        """
        super().__init__()
        _check_free(folder, replace=replace)
        self.unanswered: list[Problem] = []
        self._folder = folder
        self._suffix = _SUFFIXES[compress]
        self._beside = folder.with_name(f".{folder.name}.{os.getpid()}.new")
        self._files: dict[str, IO[bytes] | gzip.GzipFile] = {}
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._beside, ignore_errors=True)  # of a process that was killed
        self._beside.mkdir(mode=_FOLDER_MODE)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()
        shutil.rmtree(self._beside, ignore_errors=True)

    def add(self, daemon: str, texts: Iterable[str], *, kind: str = "") -> None:
        """Add ads, and write them without their secrets."""
        super().add(daemon, self._written(texts), kind=kind)

    def save(self) -> None:
        """Give the folder its name; the files are complete, and on disk."""
        self._closing.close()
        sync_folder(self._beside)
        old = self._folder.with_name(f".{self._folder.name}.{os.getpid()}.old")
        with suppress(FileNotFoundError):
            self._folder.rename(old)
        self._beside.rename(self._folder)
        sync_folder(self._folder.parent)
        shutil.rmtree(old, ignore_errors=True)

    def _written(self, texts: Iterable[str]) -> Iterator[str]:
        rest = ""
        for text in whole_lines(texts):
            end = text.rfind("\n\n") + 2
            if end > 1:
                self._write(rest + text[:end])
                rest = text[end:]
            else:
                rest += text
            yield text
        if rest.strip():
            self._write(rest)

    def _write(self, text: str) -> None:
        for ad in text.split("\n\n"):
            lines = [line for line in ad.split("\n") if line and not _is_secret(line.partition("=")[0])]
            if lines:
                found = _TYPE.search(ad)
                kind = _FILES.get(found[1].lower(), _OTHER) if found else _OTHER
                self._file(kind).write("\n".join([*lines, "\n"]).encode("utf-8", "surrogateescape"))

    def _file(self, kind: str) -> IO[bytes] | gzip.GzipFile:
        if kind not in self._files:
            descriptor = os.open(
                self._beside / (kind + self._suffix), os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE
            )
            file: IO[bytes] = self._closing.enter_context(os.fdopen(descriptor, "wb"))
            self._closing.callback(_sync, file)
            if self._suffix.endswith(".gz"):
                zipped = gzip.GzipFile("", "wb", 1, file, 0)
                self._closing.callback(zipped.close)
                self._files[kind] = zipped
            else:
                self._files[kind] = file
        return self._files[kind]


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _check_free(folder: Path, *, replace: bool) -> None:
    """Raise InvalidCallError unless a folder may be written: it does not exist, or has saved ads only and may be replaced."""
    if not os.path.lexists(folder):
        return
    is_folder = folder.is_dir() and not folder.is_symlink()
    names = [each.name for each in folder.iterdir()] if is_folder else []
    if is_folder and not names:
        return
    known = {kind + suffix for kind in (*_FILES.values(), _OTHER) for suffix in _SUFFIXES}
    if not names or not known.issuperset(names):
        raise InvalidCallError(f"{folder} exists already, and is not a folder of saved ads: name another one")
    if not replace:
        raise InvalidCallError(f"{folder} exists already: name another one, or use --replace")
