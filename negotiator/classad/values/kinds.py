"""The values of the language (SEMANTICS: HTCondor ClassAds, old-ClassAd semantics on).

A value is one of: ``UNDEFINED``, ``ERROR``, ``bool``, ``int`` (64-bit two's complement), ``float`` (binary64), ``str``,
``AbsTime``, ``RelTime``, ``ListValue``, ``AdValue``. Python counts ``True == 1 == 1.0``; the language does not, so ask
``type(value)`` before comparing values of different kinds.

Strings are byte strings without NUL in HTCondor. Here they are ``str`` decoded as UTF-8 with ``surrogateescape``, so
that bytes that are not UTF-8 come out as they went in; sizes, offsets and order are those of the bytes.
"""

from __future__ import annotations

import enum

import attrs


class Exceptional(enum.Enum):
    """The two values that are not values: compare them with ``is``."""

    UNDEFINED = "undefined"
    ERROR = "error"

    def __repr__(self) -> str:
        return self.name


UNDEFINED = Exceptional.UNDEFINED
ERROR = Exceptional.ERROR


class Kind(enum.IntEnum):
    """The kind of a cell of a table. ABSENT says that the ad has no such attribute, which is not UNDEFINED."""

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
    """A moment: seconds since the epoch, and the offset of the zone in which it is written (seconds east)."""

    seconds: int
    offset: int = 0


@attrs.frozen
class RelTime:
    """A span of time in seconds."""

    seconds: float
