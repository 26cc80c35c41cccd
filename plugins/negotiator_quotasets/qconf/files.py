"""The files of qconf: those that are named on the command line, those that a change writes, and texts in the editor of the environment.

A change writes a single file, so that one rename makes it atomic. A crash before the rename leaves the old sets, one after it the new ones:
the first line of the new file names the files that it supersedes.
"""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import attrs

from negotiator.plugin import open_regular
from negotiator_quotasets.language import RuleSet, format_sets
from negotiator_quotasets.qconf.arguments import QconfRefusedError
from negotiator_quotasets.settings import QuotaSettings, superseding_line

MAX_FILE = 1024 * 1024
"""In bytes: room for more than ten thousand sets."""
NEW_FILE = "quotasets.rqs"
_SUPERSEDING = superseding_line(["FILES"]).partition("FILES")[0]
FAILED = "edit failed"
_FILE = "quotasets.rqs"
_LONG_AGO = 1_000_000_000  # seconds since the epoch: no editor saves then
_ENDING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows lacks one


def read_text(name: str) -> str:
    """Read a file, or a descriptor of the process such as ``/dev/stdin``.

    :raises QconfRefusedError: it can't be read, is a FIFO or a device, is larger than ``MAX_FILE``, or is not UTF-8.
    """
    try:
        with os.fdopen(open_regular(name), "rb") as opened:
            content = opened.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise QconfRefusedError(f'error opening file "{name}" for reading: {reason}') from None
    if len(content) > MAX_FILE:
        raise QconfRefusedError(f'error reading file: "{name}" has more than {MAX_FILE} bytes')
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise QconfRefusedError(f'error reading file: "{name}" is not UTF-8, see line {line}') from None


def printable_name(name: str) -> str:
    """Return a file's name for messages: undecodable bytes are replaced."""
    return os.fsencode(name).decode(errors="replace")


#: The sets of each file, in their order.
Files = Mapping[str, Sequence[RuleSet]]


@attrs.frozen
class FileWrite:
    """A file to write, and the superseded files to remove with it."""

    name: str
    content: bytes
    superseded: tuple[str, ...] = ()


def file_of_new_sets(settings: QuotaSettings) -> str:
    """Return the file for new sets: the only file if there is one, else ``quotasets.rqs``."""
    names = list(settings.parsed_files)
    # A superseded quotasets.rqs would not be read.
    return names[0] if len(names) == 1 or (names and NEW_FILE in settings.superseded) else NEW_FILE


def sets_by_file(settings: QuotaSettings) -> dict[str, list[RuleSet]]:
    """Return the current sets of each file."""
    return {name: list(parsed.sets) for name, parsed in settings.parsed_files.items()}


def with_added(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Return all sets with more at the end."""
    files = sets_by_file(settings)
    files.setdefault(file_of_new_sets(settings), []).extend(sets)
    return files


def with_changed(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Return all sets, some of them changed; these move to the end of their file, as in Grid Engine's list."""
    files = sets_by_file(settings)
    file_of = {each.name: name for name, old in files.items() for each in old}
    changed = {each.name: each for each in sets}
    result = {name: [each for each in old if each.name not in changed] for name, old in files.items()}
    for each in changed.values():
        result[file_of[each.name]].append(each)
    return result


def without(settings: QuotaSettings, names: Iterable[str]) -> Files:
    """Return all sets but the named ones."""
    removed = set(names)
    return {
        name: [each for each in old if each.name not in removed]
        for name, old in sets_by_file(settings).items()
    }


def replaced(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Return these sets in place of all others."""
    return {**dict.fromkeys(settings.parsed_files, ()), file_of_new_sets(settings): tuple(sets)}


def planned_write(settings: QuotaSettings, wanted: Files) -> FileWrite | None:
    """Return the write that stores these sets in the files; None if they already have them.

    :raises QconfRefusedError: a file to supersede has a blank in its name.
    """
    old = sets_by_file(settings)
    changed = [name for name, sets in wanted.items() if list(sets) != old.get(name, [])]
    if not changed:
        return None
    if len(changed) == 1:
        return _single_write(settings, changed[0], wanted[changed[0]])
    name = file_of_new_sets(settings)
    merged = dict.fromkeys((*changed, *([name] if name in old else [])))
    sets = [each for file in wanted if file in merged for each in wanted[file]]
    return _write(name, sets, [*(each for each in merged if each != name), *_left_over(settings)])


def _single_write(settings: QuotaSettings, name: str, sets: Sequence[RuleSet]) -> FileWrite:
    supersedes = settings.files.get(name, "").startswith(_SUPERSEDING)
    return _write(name, sets, _left_over(settings) if supersedes else ())


def _left_over(settings: QuotaSettings) -> list[str]:
    """Return superseded files that still exist: an earlier change was interrupted before they were removed."""
    return [name for name in settings.files if name in settings.superseded]


def _write(name: str, sets: Iterable[RuleSet], superseded: Iterable[str]) -> FileWrite:
    removed = tuple(dict.fromkeys(superseded))
    for each in removed:
        if len(each.split()) != 1:
            raise QconfRefusedError(f"{each!r} must be removed: give the file a name without blanks first")
    return FileWrite(name, (superseding_line(removed) + format_sets(sets)).encode(), removed)


def edit(text: str) -> str:
    """Let the caller edit a text, and return the saved text.

    As in Grid Engine, the editor is ``$EDITOR``, or vi, and runs in the shell. The time of the file's last change shows
    whether it was saved: saving it unchanged counts.

    :raises QconfRefusedError: the text was not saved, the editor failed, or the file is unreadable.
    """
    # A separate folder, since editors put copies beside the file.
    with TemporaryDirectory(prefix="qconf-") as folder, _signals_left_to_the_editor():
        path = Path(folder) / _FILE
        _write_text(path, text)
        os.utime(path, (_LONG_AGO, _LONG_AGO))  # the clock of the file system is coarser than a fast editor
        before = path.stat().st_mtime_ns
        _run_editor(path)
        try:
            after = path.lstat()
        except FileNotFoundError:
            raise QconfRefusedError("error: the editor left no file", FAILED) from None
        if not stat.S_ISREG(after.st_mode):
            raise QconfRefusedError("error: the editor left no regular file", FAILED)
        if after.st_mtime_ns == before:
            raise QconfRefusedError("file unchanged")
        return _read(path)


def _read(path: Path) -> str:
    try:
        return read_text(str(path))
    except QconfRefusedError as error:
        reason = error.lines[0].replace(f'"{path}"', "it")
        raise QconfRefusedError(f"error reading in file: {reason}") from None


def _write_text(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


def _run_editor(path: Path) -> None:
    editor = os.environ.get("EDITOR") or "vi"
    command = ["/bin/sh", "-c", f'{editor} "$@"', editor, str(path)]
    code = subprocess.run(command, check=False, stdout=_standard_output()).returncode  # noqa: S603 - the caller's own editor, as the caller
    if code < 0:
        raise QconfRefusedError(f"error: editor terminated by signal {-code}", FAILED)
    if code:
        raise QconfRefusedError(f"error: editor exited with error {code}", FAILED)


def _standard_output() -> int | None:
    """Return the descriptor of the program's standard output: descriptor 1 is standard error once plugins are loaded."""
    try:
        return sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):  # not a file, as in tests
        return None


@contextmanager
def _signals_left_to_the_editor() -> Iterator[None]:
    """Leave interrupts from the keyboard to the editor; remove the file if a signal ends the program."""
    old = {each: signal.signal(each, _exit) for each in _ENDING}
    # Not SIG_IGN, which the editor would inherit: handlers are not inherited.
    old |= {each: signal.signal(each, _ignore) for each in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Keep waiting for the editor."""


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
