"""Editing of texts: in a private file, with the editor of the environment."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from negotiator_quotasets.qconf.errors import QconfRefusedError
from negotiator_quotasets.qconf.files import read_text

FAILED = "edit failed"
_FILE = "quotasets.rqs"
_LONG_AGO = 1_000_000_000  # seconds since the epoch: no editor saves then
_ENDING = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)  # Windows lacks one


def edit(text: str) -> str:
    """Let the caller edit a text, and return the saved text.

    As in Grid Engine, the editor is ``$EDITOR``, or vi, and runs in the shell. The time of the file's last change shows
    whether it was saved: saving it unchanged counts.

    :raises QconfRefusedError: the text was not saved, the editor failed, or the file is unreadable.
    """
    # A separate folder, since editors put copies beside the file.
    with TemporaryDirectory(prefix="qconf-") as folder, _signals_left_to_the_editor():
        path = Path(folder) / _FILE
        _write(path, text)
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


def _write(path: Path, text: str) -> None:
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
