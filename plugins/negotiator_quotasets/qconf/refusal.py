"""What was asked for and is not done: the lines that say so."""

from __future__ import annotations

from collections.abc import Iterable

from negotiator.plugin import ExitCode, Problem

USAGE = "Usage: qconf -help"


class QconfRefusedError(Exception):
    """Nothing of what one switch asks for was done; ``lines`` say why, as Grid Engine words it."""

    def __init__(self, *lines: str, exit_code: int = ExitCode.NOT_DONE) -> None:
        super().__init__(*lines)
        self.lines = lines
        self.exit_code = exit_code


class EndError(QconfRefusedError):
    """Nothing of what stands behind that switch is done either."""


class WrongUsageError(EndError):
    """The command line can't be understood from here on."""


class MissingArgumentError(WrongUsageError):
    """A switch stands there without what it needs behind its last word; all of the help is then printed."""

    def __init__(self, word: str) -> None:
        super().__init__(f'error: no option argument provided to "{word}"')


def faults(problems: Iterable[Problem]) -> QconfRefusedError:
    """A text that is no good: Grid Engine's message of the first fault, then each further one with its place and a hint."""
    first, *more = problems
    return QconfRefusedError(first.message, *map(str, more))
