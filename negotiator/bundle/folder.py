"""Read the files of a bundle, each once, and compute their digest; resolve the paths that a bundle names."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path, PurePosixPath

import attrs

from negotiator.bundle.archive import check_manifest, digest_of
from negotiator.files import UntrustedError, check_trusted, open_regular
from negotiator.hooks.trust import follow_trusted
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

MAIN = "pool.yaml"
QUEUES = "queues.yaml"
MAX_FILE = 16 * 1024 * 1024
MAX_FILES = 10_000
MAX_TOTAL = 256 * 1024 * 1024

_CONDOR = re.compile(r"[^/]*\.conf|[^/]*\.config|condor_config[^/]*")
_LIKE_SETTINGS = re.compile(r"(?:[^/]*\.conf(?:ig)?|(?:pool|queues?)\.ya?ml)", re.IGNORECASE)
# Files that HTCondor itself skips in a configuration folder (LOCAL_CONFIG_DIR_EXCLUDE_REGEXP).
_SKIPPED = re.compile(r"\..*|.*~|#.*|.*\.rpmsave|.*\.rpmnew")


@attrs.frozen(eq=False)
class FolderContents:
    """The names of all files of a folder, the contents of those at its top, and one digest of all."""

    names: frozenset[str]
    settings: dict[str, bytes]  # pool.yaml, queues.yaml and HTCondor-style files, by name
    others: dict[str, bytes]  # the other files at the top, by name; plugins may own them
    irregular: frozenset[str]  # names of entries that are neither files nor folders
    files: dict[str, bytes]  # all that the digest covers, by name
    digest: str
    problems: tuple[Problem, ...]


def is_condor_file(name: str) -> bool:
    """True for the name of an HTCondor-style configuration file; ``name`` is relative to the folder."""
    return _CONDOR.fullmatch(name) is not None and not _SKIPPED.fullmatch(name)


def is_settings_file(name: str) -> bool:
    """True for the name of a settings file of the core; ``name`` is relative to the folder."""
    return name in {MAIN, QUEUES} or is_condor_file(name)


def unread(name: str) -> Problem | None:
    """Return a warning for a file that looks like settings but is not read; ``name`` is relative to the folder."""
    if is_settings_file(name) or not _LIKE_SETTINGS.fullmatch(name):
        return None
    hint = f"settings are {MAIN}, {QUEUES} and *.conf, spelled exactly so"
    return Problem(Severity.WARNING, Source(printable(name)), "this file is not read as settings", hint)


def read_folder(
    folder: Path, replaced: Mapping[str, bytes | None] | None = None, *, installed: bool = False
) -> FolderContents:
    """Read all files except hidden ones, ``*~`` and ``__pycache__``.

    The digest is that of ``digest_of``, over all files that can be read. Files and folders that another user could have
    written are errors.

    :param replaced: contents to use instead of those on disk, by name; None for a file to treat as removed.
    :param installed: the folder is part of the program: whoever could write it could write the program as well.
    """
    reading = _Reading(folder, replaced or {}, installed)
    reading.run()
    reading.problems += check_manifest(reading.files)
    return FolderContents(
        names=frozenset(reading.names),
        settings=reading.settings,
        others=reading.others,
        irregular=frozenset(reading.irregular),
        files=reading.files,
        digest=digest_of(reading.files),
        problems=tuple(reading.problems),
    )


@attrs.define(eq=False)
class _Reading:
    folder: Path
    replaced: Mapping[str, bytes | None]
    installed: bool = False
    names: list[str] = attrs.field(factory=list)
    settings: dict[str, bytes] = attrs.field(factory=dict)
    others: dict[str, bytes] = attrs.field(factory=dict)
    irregular: list[str] = attrs.field(factory=list)
    problems: list[Problem] = attrs.field(factory=list)
    files: dict[str, bytes] = attrs.field(factory=dict)
    total: int = 0

    def run(self) -> None:
        names = [name for name, content in self.replaced.items() if content is not None]
        for name in self._walk():
            if name not in self.replaced:
                names.append(name)
            if len(names) > MAX_FILES:
                self._error(".", f"more than {MAX_FILES} files in this folder", "is it a bundle?")
                return
        for name in sorted(names, key=os.fsencode):
            self._file(name)
            if self.total > MAX_TOTAL:
                self._error(name, f"the files of this folder have more than {MAX_TOTAL} bytes", "")
                return

    def _walk(self) -> Iterator[str]:
        waiting = [""]
        while waiting:
            below = waiting.pop()
            here = self.folder / below
            try:
                entries = sorted(os.scandir(here), key=lambda entry: entry.name)
                self._check(below or ".", here, here.stat())
            except OSError as error:
                self._error(below or ".", f"this folder can't be read: {error.strerror}", "")
                continue
            for entry in entries:
                if entry.name.startswith(".") or entry.name.endswith("~") or entry.name == "__pycache__":
                    continue
                name = below + entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name + "/")
                elif not _is_folder(entry):
                    yield name

    def _file(self, name: str) -> None:
        is_setting = is_settings_file(name)
        try:
            content = self.replaced[name] if name in self.replaced else self._read(name)
        except OSError as error:
            self._error(name, f"this file can't be read: {error.strerror}", "")
            return
        if content is None:
            self.irregular.append(name)
            if is_setting:
                self._error(name, "this is not a file", "")
            return
        if len(content) > MAX_FILE:
            self._error(name, f"this file is larger than {MAX_FILE} bytes", "keep large files elsewhere")
            return
        self.files[name] = content
        self.total += len(content)
        self.names.append(name)
        if is_setting:
            self.settings[name] = content
        elif "/" not in name:
            self.others[name] = content

    def _read(self, name: str) -> bytes | None:
        """Return the bytes of a regular file, at most one more than allowed; None for anything but a regular file."""
        path = self.folder / name
        if leads_out(self.folder, path):
            raise OSError(errno.ELOOP, "a link leads out of the bundle")
        if not path.is_file() and path.exists():
            return None
        with os.fdopen(open_regular(path), "rb") as opened:
            self._check(name, path, os.fstat(opened.fileno()))
            return opened.read(MAX_FILE + 1)

    def _check(self, name: str, path: Path, status: os.stat_result) -> None:
        """Report a file or folder that another user could have written, also by way of a link to it."""
        if self.installed:
            return
        try:
            check_trusted(path, status)
            if path.is_symlink() and name != ".":
                follow_trusted(self.folder.resolve(), Path(name))
        except UntrustedError as error:
            self._error(name, f"refused: {error.message}", error.hint)

    def _error(self, name: str, message: str, hint: str) -> None:
        self.problems.append(Problem(Severity.ERROR, Source(printable(name)), message, hint))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def leads_out(folder: Path, path: Path) -> bool:
    """True if a link on the path of a file leads out of the folder."""
    # Path.resolve raises for a link that leads to itself, in some versions of Python.
    return not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def no_files(text: str) -> tuple[str, str]:
    """Refuse every path, for settings that name no files."""
    del text
    return "files are not supported here", ""


@attrs.frozen
class FileOfBundle:
    """Resolves the name of a file of the bundle, relative to its folder; the digest must cover the file."""

    folder: Path
    digested: Container[str]

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Return the path of the file, or a message and a hint."""
        relative = PurePosixPath(text)
        if "\0" in text or not text.strip():
            return "expected a file name", ""
        if relative.is_absolute() or ".." in relative.parts:
            return f"the path {text!r} leads out of the bundle", "copy the file into the bundle's folder"
        path = self.folder / relative
        try:
            if leads_out(self.folder, path):
                return f"links lead from {text!r} out of the bundle", "copy the file into the bundle's folder"
            found, is_file = path.exists(), path.is_file()
        except (OSError, RuntimeError):
            found = is_file = False
        if not found:
            return f"no file {text!r} in the bundle", "paths are relative to the bundle's folder"
        if not is_file:
            return f"{text!r} is not a file", "name a file"
        if relative.as_posix() not in self.digested:
            hint = "hidden files, *~ and files behind a link to a folder are not digested"
            return f"the bundle's digest does not cover {text!r}", hint
        return path


@attrs.frozen
class PluginsFolder:
    """Resolves the name of a folder of plugins, relative to the bundle or absolute."""

    folder: Path

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Return the path of the folder, or a message and a hint."""
        if "\0" in text or not text.strip():
            return "expected a folder name", ""
        path = self.folder / text
        try:
            is_folder = path.is_dir()
        except OSError:
            is_folder = False
        if not is_folder:
            return f"no folder {text!r}", "it is relative to the bundle's folder"
        return path
