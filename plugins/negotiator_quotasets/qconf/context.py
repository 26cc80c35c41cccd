"""The context of every switch of qconf: the bundle, the caller, the way a change is made, and the lock that serialises changes."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import click

from negotiator.plugin import (
    ChangeOutcome,
    ChangeStatus,
    CommandContext,
    CommandTargets,
    Severity,
    open_lock,
    printable,
)
from negotiator_quotasets.qconf.arguments import AbortedCommandLineError, QconfRefusedError
from negotiator_quotasets.qconf.files import NEW_FILE, Files, FileWrite, planned_write
from negotiator_quotasets.settings import QuotaSettings

_LOCK = ".qconf.lock"
_TRIES, _PAUSE = 100, 0.1  # seconds
PLUGIN = "quotasets"
_MAX_NOTE = 500  # characters of the note that a change may have


@contextmanager
def exclusive(folder: Path | None) -> Iterator[None]:
    """Prevent other calls of qconf from changing a bundle; None is the built-in one, which can't be changed.

    Whoever may not write the folder takes no lock: the change is refused.

    :raises QconfRefusedError: another call does not release the lock in time.
    """
    if folder is None:
        yield
        return
    if not os.access(folder, os.W_OK, effective_ids=True):
        yield
        return
    descriptor = _opened(folder)
    try:
        if not any(_locked(descriptor) for _ in range(_TRIES)):
            raise QconfRefusedError(f"{folder} is being changed by another qconf: try again later")
        yield
    finally:
        os.close(descriptor)


def _opened(folder: Path) -> int:
    try:
        return open_lock(folder / _LOCK)
    except OSError as error:
        raise QconfRefusedError(f"{folder / _LOCK} can't be locked: {error.strerror}") from None


def _locked(descriptor: int) -> bool:
    """Try once to take the lock; pause after a failure."""
    import fcntl  # noqa: PLC0415 - missing on Windows, where open_lock has failed already

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(_PAUSE)
        return False
    return True


@attrs.define(eq=False)
class QconfContext:
    """A bundle and its caller; ``exit_code`` is that of the whole command."""

    program: CommandContext
    targets: CommandTargets
    exit_code: int = 0

    @property
    def caller(self) -> str:
        """The caller and the host, as Grid Engine prints them."""
        return f"{self.program.caller().name}@{socket.gethostname()}"

    def settings(self) -> QuotaSettings:
        """Return the current settings of the plugin.

        :raises CommandError: the bundle has errors, or the plugin is disabled in it.
        """
        settings: QuotaSettings = self.program.bundle(self.targets).settings(PLUGIN)
        return settings

    def folder(self) -> Path:
        """Return the folder of the bundle."""
        return self.program.bundle_folder(self.targets)

    def require_manager(self, name: str = NEW_FILE, empty: bytes = b"") -> None:
        """Refuse a caller who may not change the bundle.

        A denied attempt goes to the audit log. Only a change is logged, so this requests one that leaves the file as it
        is.

        :raises QconfRefusedError: the caller may not.
        """
        if not self.program.may_configure(self.targets).allowed:
            path = self.folder() / name
            content = path.read_bytes() if path.is_file() else empty
            self._report(self.program.change(self.targets, name, content))

    @contextmanager
    def locked_settings(self) -> Iterator[QuotaSettings]:
        """Yield the current settings, which no other qconf changes meanwhile."""
        located = self.targets.bundle or self.targets.state_location
        with exclusive(self.folder() if located else None):
            yield self.settings()

    def change_sets(self, settings: QuotaSettings, wanted: Files, note: str) -> None:
        """Write the sets of files; nothing if they already have them.

        :raises QconfRefusedError: the caller may not, or the bundle would have errors.
        """
        write = planned_write(settings, wanted)
        if write is not None:
            self.change(write, note)

    def change(self, write: FileWrite, note: str) -> None:
        """Write a file of the bundle.

        :raises QconfRefusedError: the caller may not, or the bundle would have errors.
        """
        text = printable(f"qconf {note}")
        text = text if len(text) <= _MAX_NOTE else f"{text[: _MAX_NOTE - 3]}..."
        self._report(self.program.change(self.targets, write.name, write.content, text, write.superseded))

    def _report(self, outcome: ChangeOutcome) -> None:
        if outcome.error:
            self.print_error(f"warning: this is not in the audit log: {outcome.error}")
        if outcome.status is ChangeStatus.DENIED:
            denied = f'denied: "{self.program.caller().name}" must be manager for this operation'
            raise AbortedCommandLineError(denied, exit_code=outcome.exit_code)
        if outcome.status is ChangeStatus.INVALID:
            errors = [each for each in outcome.problems if each.severity is Severity.ERROR]
            raise QconfRefusedError(*map(str, errors), f"error: {outcome.text}", exit_code=outcome.exit_code)
        self.exit_code = self.exit_code or outcome.exit_code

    def print_line(self, line: str) -> None:
        """Print a line."""
        click.echo(printable(line))

    def print_error(self, line: str) -> None:
        """Print a line to standard error."""
        click.echo(printable(line), err=True)
