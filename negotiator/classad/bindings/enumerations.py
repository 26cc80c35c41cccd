"""The enumerations of HTCondor's ``classad2``, with its names and numbers."""

from __future__ import annotations

import enum
from typing import Final


class Value(enum.IntEnum):
    """The two values of the language that Python has no type for."""

    Error = 1
    Undefined = 2


class ParserType(enum.IntEnum):
    """The formats that ``parseOne``, ``parseAds`` and ``parseNext`` read.

    ``Auto`` is new syntax or long form, by the first character of each ad. ``FileAuto`` is any of the four, by the beginning
    of the text.
    """

    Auto = -1
    Old = 0
    XML = 1
    JSON = 2
    New = 3
    FileAuto = 4


Parser: Final = ParserType
"""The name that version 1 of HTCondor's bindings had for ``ParserType``."""
