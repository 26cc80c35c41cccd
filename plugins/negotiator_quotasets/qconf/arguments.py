"""The words of the command line, taken one after the other; those that begin with ``-`` are switches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from negotiator_quotasets.qconf.refusal import MissingArgumentError, WrongUsageError

_SEPARATORS = re.compile(r"[, ]+")


@attrs.define
class QconfArguments:
    """What is left of the command line."""

    _words: Sequence[str]
    _at: int = 0

    def __bool__(self) -> bool:
        """Whether there is a word left."""
        return self._at < len(self._words)

    def take(self) -> str:
        """The next word, whatever it is; there has to be one."""
        self._at += 1
        return self._words[self._at - 1]

    def required(self) -> str:
        """The next word, whatever it is.

        :raises MissingArgumentError: there is none, behind the word before it.
        """
        if not self:
            raise MissingArgumentError(self._words[self._at - 1])
        return self.take()

    def value(self) -> str | None:
        """The next word, if there is one and it is no switch."""
        return self.take() if self and not self._words[self._at].startswith("-") else None

    def file(self) -> str:
        """The name of a file.

        :raises WrongUsageError: there is none.
        """
        name = self.value()
        if name is None:
            raise WrongUsageError("no file argument given")
        return name

    def values(self) -> tuple[str, ...]:
        """All words up to the next switch; each may be a list itself."""
        found: list[str] = []
        while (word := self.value()) is not None:
            found.append(word)
        return listed(found)


def listed(words: Iterable[str | None]) -> tuple[str, ...]:
    """The entries of lists with commas or blanks, each once."""
    return tuple(dict.fromkeys(part for word in words for part in _SEPARATORS.split(word or "") if part))
