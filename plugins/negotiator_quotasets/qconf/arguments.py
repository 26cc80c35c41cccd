"""The arguments of the command line, consumed one after the other; those that begin with ``-`` are switches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from negotiator_quotasets.qconf.errors import InvalidCommandLineError, MissingArgumentError

_SEPARATORS = re.compile(r"[, ]+")


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
