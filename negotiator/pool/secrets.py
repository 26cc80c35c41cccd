"""Which attributes are secrets, and which texts are safe to show.

The names are those that HTCondor keeps private (``ClassAdAttributeIsPrivateAny`` in its ``compat_classad.cpp``), at the
top level of an ad. (The ``Capability`` of a GPU is the compute capability; it is in a nested ad.) Readers drop secret
attributes, and no message quotes their values or the text around them.
"""

from __future__ import annotations

import re
from typing import Final

from negotiator.records.text import printable

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
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9_.]")  # quotes, blanks, invisible characters
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LONGEST_EXCERPT: Final = 500


def is_secret(name: str) -> bool:
    """True if an attribute of this name is a secret, in any case and with any quotes, blanks or prefix."""
    lower = _NOT_IN_NAMES.sub("", name.lower())
    lower = lower[lower.rfind(".") + 1 :]
    return lower in _NAMES or lower.startswith(_PREFIX)


def is_safe_to_show(text: str) -> bool:
    """True if nothing in a text is spelled like the name of a secret."""
    return _TRACE.search(text) is None


def redact(expression: str) -> str:
    """Return an expression for display, without its strings if it mentions a secret."""
    return expression if is_safe_to_show(expression) else _STRING.sub('"..."', expression)


def excerpt(line: str, column: int = 0) -> str:
    """Return a line to be shown above a caret; "" if it may hold a secret or is too long."""
    if column > _LONGEST_EXCERPT or not is_safe_to_show(line):
        return ""
    return printable(line[:_LONGEST_EXCERPT])
