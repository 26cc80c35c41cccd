"""What a scalar of YAML says, without the surprises of YAML 1.1.

PyYAML follows YAML 1.1, where ``on`` is true, ``010`` is 8 and ``10:30`` is 630. What the two versions of YAML
understand differently is refused, unless it is quoted.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

TRUE = frozenset({"true", "True", "TRUE"})
FALSE = frozenset({"false", "False", "FALSE"})
NULL = frozenset({"", "~", "null", "Null", "NULL"})

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)


class ScalarKind(enum.Enum):
    """What a plain scalar is, as it is called in messages."""

    NULL = "nothing"
    BOOLEAN = "a boolean"
    INTEGER = "a whole number"
    REAL = "a number"
    TEXT = "a text"


class AmbiguousScalar(NamedTuple):
    """Something that YAML 1.1 does not read as what it looks like."""

    meaning: str
    hint: str


_SURPRISES = (
    (
        r"(?i:yes|no|on|off|y|n)",
        AmbiguousScalar("a boolean", "write true or false; or quote it, where it is a text"),
    ),
    (
        r"[-+]?0[0-9_]+",
        AmbiguousScalar("a number of base 8", "leave out the leading zeros; or quote it, where it is a text"),
    ),
    (
        r"[-+]?0[xXbBoO][0-9a-fA-F_]*",
        AmbiguousScalar(
            "a number of another base", "write it with decimal digits; or quote it, where it is a text"
        ),
    ),
    (
        r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?",
        AmbiguousScalar("a number of base 60", "quote it"),
    ),
    (
        r"[-+]?[0-9]+_[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?",
        AmbiguousScalar("a number", "leave out the underscores; or quote it, where it is a text"),
    ),
    (
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?a:[Tt\s]).*)?",
        AmbiguousScalar("a date", "quote it"),
    ),
    (
        r"[-+]?\.(?i:inf|nan)",
        AmbiguousScalar("infinity or no number", "write a number; or quote it, where it is a text"),
    ),
    (r"=|<<", AmbiguousScalar("a directive", "quote it")),
)
_SURPRISE = re.compile("|".join(f"({pattern})" for pattern, _ in _SURPRISES))


def surprise(text: str) -> AmbiguousScalar | None:
    """What YAML 1.1 reads a plain scalar as, where that is not what it looks like."""
    found = _SURPRISE.fullmatch(text)
    return _SURPRISES[found.lastindex - 1][1] if found and found.lastindex else None


def kind(text: str) -> ScalarKind:
    """What a plain scalar is that holds no surprise."""
    if text in NULL:
        return ScalarKind.NULL
    if text in TRUE or text in FALSE:
        return ScalarKind.BOOLEAN
    if is_integer(text):
        return ScalarKind.INTEGER
    return ScalarKind.REAL if is_real(text) else ScalarKind.TEXT


def is_integer(text: str) -> bool:
    """Whether it is written as a decimal whole number."""
    return _INTEGER.fullmatch(text) is not None


def is_real(text: str) -> bool:
    """Whether it is written as a decimal number, whole or not."""
    return _REAL.fullmatch(text) is not None
