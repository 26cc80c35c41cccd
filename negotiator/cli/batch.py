"""What commands over recorded cycles share: progress on a terminal, refusals on standard error, until Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import attrs
import click

from negotiator.app.batches import BatchProgress, CycleTask, finished_results, over_recorded
from negotiator.app.executors import workers
from negotiator.app.policy_tests import PolicyTestProgress
from negotiator.cli.errors import print_note
from negotiator.cli.phrases import duration, number
from negotiator.cli.render import printable
from negotiator.cli.status_line import StatusLine
from negotiator.engines.choice import EngineChoice
from negotiator.exit_codes import ExitCode


@attrs.define(eq=False)
class BatchLine(StatusLine):
    """The line of a batch."""

    _latest: BatchProgress = attrs.field(factory=lambda: BatchProgress(0, 0, 0, 0))
    _started: float = attrs.field(factory=time.monotonic)  # the line may be hidden in between

    def show(self, progress: BatchProgress) -> None:
        """Show how far the batch is."""
        self._latest = progress
        self.begin()

    def text(self, seconds: float) -> str:
        """Return the line: how many cycles are decided, the time of each, and the time that is left."""
        seconds = time.monotonic() - self._started
        found = self._latest
        texts = [f"{found.done} of {number(found.total, 'cycle')}"]
        if found.refused:
            texts.append(f"{found.refused} refused")
        texts += _pace(seconds, found.done - found.earlier, found.total - found.done)
        return f"{', '.join(texts)} (Ctrl-C ends with a report of these)"


@attrs.define(eq=False)
class PolicyTestLine(StatusLine):
    """The line of tests of policies."""

    _latest: PolicyTestProgress = attrs.field(factory=lambda: PolicyTestProgress(0, 0, 0))

    def show(self, progress: PolicyTestProgress) -> None:
        """Show how many tests are done."""
        self._latest = progress
        self.begin()

    def text(self, seconds: float) -> str:
        """Return the line: how many tests are done and failed, the time of each, and the time that is left."""
        found = self._latest
        texts = [f"{found.done} of {number(found.total, 'test')}"]
        if found.failed:
            texts.append(f"{found.failed} failed")
        return ", ".join((*texts, *_pace(seconds, found.done, found.total - found.done)))


def _pace(seconds: float, done: int, left: int) -> tuple[str, ...]:
    """Return the time of each, and the time that is left; nothing is known before the first is done."""
    if not done:
        return ()
    each = seconds / done
    return (f"{each:.1f} s each, {duration(each * left)} left",)


R = TypeVar("R")


@attrs.define(eq=False)
class Batch:
    """A batch that runs once, on the workers of an engine; ``resume`` is the file of finished results, None for none.

    ``prints`` if something is printed for each result.
    """

    engine: EngineChoice
    resume: Path | None
    prints: bool = False
    _progress: BatchProgress = attrs.field(factory=lambda: BatchProgress(0, 0, 0, 0), init=False)
    _refused: ExitCode = attrs.field(default=ExitCode.DONE, init=False)
    _stopped: bool = attrs.field(default=False, init=False)

    def results(self, files: Sequence[Path], task: CycleTask[R]) -> Iterator[tuple[Path, R]]:
        """Yield the results in the order of the files; print why others are refused. Ctrl-C ends the batch.

        :raises CommandError: the file of finished results cannot be used, or a worker ended.
        """
        self._progress = BatchProgress(0, len(files), 0, 0)
        line = BatchLine(enabled=sys.stderr.isatty())

        def watch(progress: BatchProgress) -> None:
            self._progress = progress
            line.show(progress)

        with finished_results(self.resume) as finished, workers(self.engine) as chosen, line:
            print_note(chosen.note)
            line.show(self._progress)
            try:
                for each in over_recorded(files, task, chosen, finished, watch):
                    if self.prints or each.refusal is not None:
                        line.hide()
                    if each.result is not None:
                        yield each.file, each.result
                    elif each.refusal is not None:
                        click.echo(f"error: {printable(each.refusal.text)}", err=True)
                        self._refused = self._refused or each.refusal.exit_code
            except KeyboardInterrupt:
                self._stopped = True

    @property
    def remark(self) -> str:
        """What a summary has to add: how many cycles were refused, not decided, or known from an earlier call."""
        found = self._progress
        left = found.total - found.done
        texts = [
            f"{found.refused} refused" if found.refused else "",
            f"{found.earlier} decided earlier" if found.earlier else "",
            f"stopped: {number(left, 'cycle')} not decided{self._advice}" if self._stopped else "",
        ]
        return "".join(f", {each}" for each in texts if each)

    @property
    def _advice(self) -> str:
        if self.resume is None:
            return " (with --resume FILE a later call goes on)"
        return " (the same command goes on)"

    def end(self, code: ExitCode) -> None:
        """End the command: interrupted, with the code of the first refusal, or else with this code."""
        sys.exit(ExitCode.INTERRUPTED if self._stopped else self._refused or code)
