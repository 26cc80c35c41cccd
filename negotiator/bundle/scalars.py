"""Read plain YAML scalars without the traps of YAML 1.1.

PyYAML follows YAML 1.1, where ``on`` is true, ``010`` is 8 and ``10:30`` is 630. A plain scalar that YAML 1.1 and 1.2
read differently is refused.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

TRUE = frozenset({"true", "True", "TRUE"})
FALSE = frozenset({"false", "False", "FALSE"})
NULL = frozenset({"", "~", "null", "Null", "NULL"})

#: What yaml.v3 also reads as a boolean, quoted or not, if and only if the target is one (``decoder.scalar``).
YAML_V3_BOOLEANS = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}

_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)


class ScalarKind(enum.Enum):
    """The kind of a plain scalar, in the words of messages."""

    NULL = "nothing"
    BOOLEAN = "a boolean"
    INTEGER = "a whole number"
    REAL = "a number"
    TEXT = "a text"


class AmbiguousScalar(NamedTuple):
    """A plain scalar that YAML 1.1 does not read as it looks: its meaning there, and how to write it."""

    meaning: str
    hint: str


_AMBIGUOUS = (
    (
        r"(?i:yes|no|on|off|y|n)",
        AmbiguousScalar("a boolean", "write true or false; or quote it, if it is a text"),
    ),
    (
        r"[-+]?0[0-9_]+",
        AmbiguousScalar("a number of base 8", "remove the leading zeros; or quote it, if it is a text"),
    ),
    (
        r"[-+]?0[xXbBoO][0-9a-fA-F_]*",
        AmbiguousScalar(
            "a number of another base", "write it with decimal digits; or quote it, if it is a text"
        ),
    ),
    (
        r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?",
        AmbiguousScalar("a number of base 60", "quote it"),
    ),
    (
        r"[-+]?[0-9]+_[0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?",
        AmbiguousScalar("a number", "remove the underscores; or quote it, if it is a text"),
    ),
    (
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?a:[Tt\s]).*)?",
        AmbiguousScalar("a date", "quote it"),
    ),
    (
        r"[-+]?\.(?i:inf|nan)",
        AmbiguousScalar("infinity or not a number", "write a number; or quote it, if it is a text"),
    ),
    (r"=|<<", AmbiguousScalar("a directive", "quote it")),
)
_ANY_AMBIGUOUS = re.compile("|".join(f"({pattern})" for pattern, _ in _AMBIGUOUS))


def ambiguous(text: str) -> AmbiguousScalar | None:
    """Return the value that YAML 1.1 reads for a plain scalar, if it is not the text itself."""
    found = _ANY_AMBIGUOUS.fullmatch(text)
    return _AMBIGUOUS[found.lastindex - 1][1] if found and found.lastindex else None


def kind(text: str) -> ScalarKind:
    """Return the kind of a plain scalar that is not ambiguous."""
    if text in NULL:
        return ScalarKind.NULL
    if text in TRUE or text in FALSE:
        return ScalarKind.BOOLEAN
    if is_integer(text):
        return ScalarKind.INTEGER
    return ScalarKind.REAL if is_real(text) else ScalarKind.TEXT


def is_integer(text: str) -> bool:
    """True for a decimal whole number."""
    return _INTEGER.fullmatch(text) is not None


def is_real(text: str) -> bool:
    """True for a decimal number, whole or not."""
    return _REAL.fullmatch(text) is not None
