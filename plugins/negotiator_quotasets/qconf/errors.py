"""Refusals of qconf: the lines that Grid Engine prints for them."""

from __future__ import annotations

from collections.abc import Iterable

from negotiator.plugin import ExitCode, NegotiatorError, Problem

USAGE = "Usage: qconf -help"


class QconfRefusedError(NegotiatorError):
    """A switch was refused and changed nothing; ``lines`` are Grid Engine's messages."""

    def __init__(self, *lines: str, exit_code: int = ExitCode.NOT_DONE) -> None:
        super().__init__(*lines)
        self.lines = lines
        self.exit_code = exit_code


class AbortedCommandLineError(QconfRefusedError):
    """A switch was refused, and the switches after it are not run either."""


class InvalidCommandLineError(AbortedCommandLineError):
    """The rest of the command line can't be parsed."""


class MissingArgumentError(InvalidCommandLineError):
    """The last word of the command line lacks an argument; the whole help is printed then."""

    def __init__(self, word: str) -> None:
        super().__init__(f'error: no option argument provided to "{word}"')


def refusal_of(problems: Iterable[Problem]) -> QconfRefusedError:
    """Return the refusal of a text with problems.

    The first line is Grid Engine's message for the first problem, the others are the further problems with their places.
    """
    first, *more = problems
    return QconfRefusedError(first.message, *map(str, more))
