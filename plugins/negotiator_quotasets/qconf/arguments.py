"""The arguments of the command line, consumed one after the other, and refusals: the lines that Grid Engine prints for them.

Arguments that begin with ``-`` are switches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from negotiator.plugin import ExitCode, NegotiatorError, Problem

USAGE = "Usage: qconf -help"
_SEPARATORS = re.compile(r"[, ]+")


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


@attrs.define
class QconfArguments:
    """The arguments that have not been consumed yet."""

    _arguments: Sequence[str]
    _at: int = 0

    def __bool__(self) -> bool:
        """True if an argument is left."""
        return self._at < len(self._arguments)

    def take(self) -> str:
        """Consume the next argument, which must exist."""
        self._at += 1
        return self._arguments[self._at - 1]

    def required(self) -> str:
        """Consume the next argument, a switch or not.

        :raises MissingArgumentError: no argument is left.
        """
        if not self:
            raise MissingArgumentError(self._arguments[self._at - 1])
        return self.take()

    def value(self) -> str | None:
        """Consume the next argument unless it is a switch or missing."""
        return self.take() if self and not self._arguments[self._at].startswith("-") else None

    def file(self) -> str:
        """Consume the name of a file.

        :raises InvalidCommandLineError: missing file.
        """
        name = self.value()
        if name is None:
            raise InvalidCommandLineError("no file argument given")
        return name

    def words(self) -> tuple[str, ...]:
        """Consume all arguments up to the next switch."""
        words: list[str] = []
        while (argument := self.value()) is not None:
            words.append(argument)
        return tuple(words)

    def values(self) -> tuple[str, ...]:
        """Consume all arguments up to the next switch, and return the entries of these lists."""
        return split_lists(self.words())


def split_lists(lists: Iterable[str | None]) -> tuple[str, ...]:
    """Return the distinct entries of lists, which are separated by commas or blanks."""
    return tuple(dict.fromkeys(part for each in lists for part in _SEPARATORS.split(each or "") if part))
