"""The switches of qquota on a command line or in a file of defaults.

Source: qquota(1). A switch with a list takes all arguments up to the next switch; names are separated by commas. Lists of a
repeated switch add up. A switch without names has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import attrs

from negotiator.plugin import NegotiatorError

#: The switches with a list, and the field of ``RowSelection`` that they set.
LISTS = {"-h": "hosts", "-l": "resources", "-u": "users", "-pe": "pes", "-P": "projects", "-q": "queues"}
HELP, XML = "-help", "-xml"
_SEPARATORS = re.compile(r"[,\s]+")


class InvalidArgumentError(NegotiatorError, ValueError):
    """An argument that is neither a switch nor belongs to one; ``number`` is its index."""

    def __init__(self, argument: str, number: int) -> None:
        super().__init__(f'invalid option argument "{argument}"')
        self.number = number


@attrs.frozen
class QquotaArguments:
    """The lists of names and wildcards, by the values of ``LISTS``, and the switches without a list."""

    lists: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    switches: frozenset[str] = frozenset()

    def __add__(self, more: QquotaArguments) -> QquotaArguments:
        names = {key: (*self.names(key), *more.names(key)) for key in (*self.lists, *more.lists)}
        return QquotaArguments(names, self.switches | more.switches)

    def overridden_by(self, more: QquotaArguments) -> QquotaArguments:
        """Return these arguments with the lists of ``more`` in place of the same lists here; empty lists do not count."""
        names = {key: more.names(key) or names for key, names in {**more.lists, **self.lists}.items()}
        return QquotaArguments(names, self.switches | more.switches)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the names for one of the values of ``LISTS``."""
        return self.lists.get(key, ())


def read_arguments(arguments: Iterable[str]) -> QquotaArguments:
    """Parse switches and their lists.

    :raises InvalidArgumentError: an argument is neither a switch nor belongs to one.
    """
    lists: dict[str, list[str]] = {}
    switches = set[str]()
    names: list[str] | None = None
    for number, argument in enumerate(arguments):
        if argument in LISTS:
            names = lists.setdefault(LISTS[argument], [])
        elif argument in {HELP, XML}:
            switches.add(argument)
            names = None
        elif names is None or argument.startswith("-"):
            raise InvalidArgumentError(argument, number)
        else:
            names += split_names(argument)
    return QquotaArguments({key: tuple(names) for key, names in lists.items()}, frozenset(switches))


def split_names(text: str) -> tuple[str, ...]:
    """Return the names of a list."""
    return tuple(filter(None, _SEPARATORS.split(text)))
