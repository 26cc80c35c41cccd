"""The switches of qquota, as they are written on a command line or in a file of defaults.

Source: qquota(1). A switch with a list takes all words up to the next switch; names are separated by commas. Lists of a
switch that is given again add up. A switch without its list changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

#: The switches with a list, and what they select.
LISTS = {"-h": "hosts", "-l": "resources", "-u": "users", "-pe": "pes", "-P": "projects", "-q": "queues"}
HELP, XML = "-help", "-xml"
_SEPARATORS = re.compile(r"[,\s]+")


class InvalidArgumentError(ValueError):
    """A word that is no switch, where one should be; ``number`` is its place among the words, from 0."""

    def __init__(self, word: str, number: int) -> None:
        super().__init__(f'invalid option argument "{word}"')
        self.number = number


@attrs.frozen
class QquotaArguments:
    """What is asked for: names and wildcards by what they select, and the switches without a list."""

    lists: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    switches: frozenset[str] = frozenset()

    def __add__(self, more: QquotaArguments) -> QquotaArguments:
        names = {key: (*self.names(key), *more.names(key)) for key in (*self.lists, *more.lists)}
        return QquotaArguments(names, self.switches | more.switches)

    def names(self, key: str) -> tuple[str, ...]:
        """The names that are given for one key of ``LISTS``."""
        return self.lists.get(key, ())


def read_arguments(words: Iterable[str]) -> QquotaArguments:
    """Read switches and their lists.

    :raises WordError: a word is no switch, and belongs to none.
    """
    lists: dict[str, list[str]] = {}
    switches = set[str]()
    names: list[str] | None = None
    for number, word in enumerate(words):
        if word in LISTS:
            names = lists.setdefault(LISTS[word], [])
        elif word in {HELP, XML}:
            switches.add(word)
            names = None
        elif names is None or word.startswith("-"):
            raise InvalidArgumentError(word, number)
        else:
            names += filter(None, _SEPARATORS.split(word))
    return QquotaArguments({key: tuple(names) for key, names in lists.items()}, frozenset(switches))
