"""The one place that knows which attributes are secrets: whoever holds a claim id may use the slot.

The names are those that HTCondor keeps private (``ClassAdAttributeIsPrivateAny`` of its ``compat_classad.cpp``), at the
top level of an ad: the ``Capability`` of a GPU, in an ad of its own inside the slot's, is its compute capability. An
attribute that is a secret is dropped when it is read, and neither its value nor a text near it is ever told.
"""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = frozenset(
    {
        "capability",
        "childclaimids",
        "claimid",
        "claimidlist",
        "claimids",
        "pairedclaimid",
        "transferkey",
    }
)
_PREFIX: Final = "_condor_priv"
_TRACE: Final = re.compile(r"claim_?id|capability|transfer_?key|_condor_priv", re.IGNORECASE)
_NO_PART: Final = re.compile(r"[^a-z0-9_.]")  # of a name: quotes, blanks, what cannot be seen
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LONGEST_EXCERPT: Final = 500
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def is_secret(name: str) -> bool:
    """Say whether an attribute of this name is a secret, whatever the case of its letters and whatever else is in it."""
    lower = _NO_PART.sub("", name.lower())
    lower = lower[lower.rfind(".") + 1 :]
    return lower in _NAMES or lower.startswith(_PREFIX)


def is_safe_to_show(text: str) -> bool:
    """Say whether a text has no trace of a secret: nothing in it is spelled like the name of one."""
    return _TRACE.search(text) is None


def redact(expression: str) -> str:
    """Give an expression as it may be told: beside the name of a secret, a string may be its value."""
    return expression if is_safe_to_show(expression) else _STRING.sub('"..."', expression)


def printable(text: str) -> str:
    """Replace, one for one, what could play tricks on a terminal or cannot be encoded."""
    return _UNPRINTABLE.sub("?", text)


def excerpt(line: str, column: int = 0) -> str:
    """Give a line as it may be shown above a caret: nothing at all where it may hold a secret or is too long."""
    if column > _LONGEST_EXCERPT or not is_safe_to_show(line):
        return ""
    return printable(line[:_LONGEST_EXCERPT])
