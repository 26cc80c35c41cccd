"""Texts that somebody edits: in a private file, with the editor of the environment."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from negotiator_quotasets.qconf.files import read_text
from negotiator_quotasets.qconf.refusal import QconfRefusedError

FAILED = "edit failed"
_FILE = "quotasets.rqs"
_LONG_AGO = 1_000_000_000  # seconds since the epoch: no editor saves then
_TAKEN = (signal.SIGTERM, signal.SIGHUP)


def edit(text: str) -> str:
    """Let the caller edit a text, and give what they saved.

    As Grid Engine does, the editor is ``$EDITOR``, or vi, and runs in the shell; whether the file was saved is told by
    the time of its last change, so that saving it as it is counts.

    :raises RefusedError: it was not saved, the editor failed, or what it left can't be read.
    """
    # A folder of its own, since editors put copies beside what they edit.
    with TemporaryDirectory(prefix="qconf-") as folder, _not_ended_by_keys():
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
        why = error.lines[0].replace(f'"{path}"', "it")
        raise QconfRefusedError(f"error reading in file: {why}") from None


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(text)


def _run_editor(path: Path) -> None:
    editor = os.environ.get("EDITOR") or "vi"
    code = subprocess.run(["/bin/sh", "-c", f'{editor} "$@"', editor, str(path)], check=False).returncode  # noqa: S603 - the caller's own editor, as the caller
    if code < 0:
        raise QconfRefusedError(f"error: editor terminated by signal {-code}", FAILED)
    if code:
        raise QconfRefusedError(f"error: editor exited with error {code}", FAILED)


@contextmanager
def _not_ended_by_keys() -> Iterator[None]:
    """Leave keys that interrupt to the editor, and let no signal that ends the program leave the file behind."""
    old = {each: signal.signal(each, _ended) for each in _TAKEN}
    # Not SIG_IGN: what is ignored stays so in the editor, what is handled does not.
    old |= {each: signal.signal(each, _left) for each in (signal.SIGINT, signal.SIGQUIT)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _left(_number: int, _frame: FrameType | None) -> None:
    """Go on waiting for the editor."""


def _ended(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
