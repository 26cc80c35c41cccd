"""The simple values of the language (SEMANTICS: HTCondor ClassAds, old-ClassAd semantics on).

A value is ``UNDEFINED``, ``ERROR``, ``bool``, ``int`` (64-bit two's complement), ``float`` (binary64), ``str``,
``AbsTime`` or ``RelTime``; lists and ads, which need a scope, are in ``context``. In Python ``True == 1 == 1.0``, in
the language not: check ``type(value)`` before comparing values of different kinds.

HTCondor's strings are byte strings without NUL. Here they are ``str`` decoded as UTF-8 with ``surrogateescape``, which
preserves bytes that are not UTF-8. Sizes, offsets and order are those of the bytes.
"""

from __future__ import annotations

import enum

import attrs


class Exceptional(enum.Enum):
    """The values undefined and error. Compare them with ``is``."""

    UNDEFINED = "undefined"
    ERROR = "error"

    def __repr__(self) -> str:
        return self.name


UNDEFINED = Exceptional.UNDEFINED
ERROR = Exceptional.ERROR


class Kind(enum.IntEnum):
    """The kind of a cell of a table. ABSENT (the ad lacks the attribute) differs from UNDEFINED (it has that value)."""

    ABSENT = 0
    UNDEFINED = 1
    ERROR = 2
    BOOLEAN = 3
    INTEGER = 4
    REAL = 5
    STRING = 6
    EXPRESSION = 7
    OTHER = 8  # lists, ads and times


@attrs.frozen
class AbsTime:
    """A moment: seconds since the epoch, and the UTC offset in which it is printed (seconds east)."""

    seconds: int
    offset: int = 0


@attrs.frozen
class RelTime:
    """A span of time in seconds."""

    seconds: float
