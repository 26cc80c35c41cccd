"""What every switch of ``qconf`` works with: the bundle, who calls, and how a change is made and told."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import click

from negotiator.plugin import ChangeOutcome, ChangeStatus, CommandContext, CommandTargets, Severity, printable
from negotiator_quotasets.qconf.lock import alone
from negotiator_quotasets.qconf.refusal import EndError, QconfRefusedError
from negotiator_quotasets.qconf.storage import NEW_FILE, Files, Write, planned
from negotiator_quotasets.settings import QuotaSettings

PLUGIN = "quotasets"
_LONGEST_NOTE = 500  # characters, as a change may have


@attrs.define(eq=False)
class QconfContext:
    """A bundle, and who works on it. ``exit_code`` is that of the whole command."""

    site: CommandContext
    places: CommandTargets
    exit_code: int = 0

    @property
    def who(self) -> str:
        """Who calls, and on which host."""
        return f"{self.site.caller().name}@{socket.gethostname()}"

    def settings(self) -> QuotaSettings:
        """What the bundle says now.

        :raises CommandError: it has errors, or the plugin is disabled in it.
        """
        settings: QuotaSettings = self.site.bundle(self.places).settings(PLUGIN)
        return settings

    def folder(self) -> Path:
        """The folder of the bundle."""
        return self.site.bundle(self.places).folder

    def require_manager(self, name: str = NEW_FILE, empty: bytes = b"") -> None:
        """Go on only if the caller may change the bundle.

        An attempt is recorded, which only a change does: the file is asked to be what it is.

        :raises RefusedError: they may not.
        """
        if not self.site.may_configure(self.places).allowed:
            path = self.folder() / name
            content = path.read_bytes() if path.is_file() else empty
            self._done(self.site.change(self.places, name, content))

    @contextmanager
    def changing(self) -> Iterator[QuotaSettings]:
        """What the bundle says, which no other qconf changes in the meantime."""
        with alone(self.places.bundle):
            yield self.settings()

    def change_sets(self, settings: QuotaSettings, wanted: Files, note: str) -> None:
        """Give files other sets; where they have them already, nothing is written.

        :raises RefusedError: it may not be done, or the bundle would have errors.
        """
        write = planned(settings, wanted)
        if write is not None:
            self.change(write, note)

    def change(self, write: Write, note: str) -> None:
        """Write a file of the bundle.

        :raises RefusedError: it may not be done, or the bundle would have errors.
        """
        told = printable(f"qconf {note}")
        told = told if len(told) <= _LONGEST_NOTE else f"{told[: _LONGEST_NOTE - 3]}..."
        self._done(self.site.change(self.places, write.name, write.content, told, write.superseded))

    def _done(self, outcome: ChangeOutcome) -> None:
        if outcome.error:
            self.complain(f"warning: this is not in the audit log: {outcome.error}")
        if outcome.status is ChangeStatus.DENIED:
            denied = f'denied: "{self.site.caller().name}" must be manager for this operation'
            raise EndError(denied, exit_code=outcome.exit_code)
        if outcome.status is ChangeStatus.INVALID:
            errors = [each for each in outcome.problems if each.severity is Severity.ERROR]
            raise QconfRefusedError(*map(str, errors), f"error: {outcome.text}", exit_code=outcome.exit_code)
        self.exit_code = self.exit_code or outcome.exit_code

    def say(self, line: str) -> None:
        """Print a line."""
        click.echo(printable(line))

    def complain(self, line: str) -> None:
        """Print a line to standard error."""
        click.echo(printable(line), err=True)
