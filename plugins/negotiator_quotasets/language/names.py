"""Names of sets and of rules.

Source: "Resource Quota Sets", grammar, ``NAME``; a set's name may have dots too, as sites' names of queues have. The messages
are the qmaster's, which checks any object's name so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from negotiator_quotasets.language.lexer import quotable

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)
_SET_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]*", re.ASCII)
_MAX_LENGTH = 512
_TOO_LONG = f"string is longer than {_MAX_LENGTH}, this is not allowed for objectnames"
_KEYWORDS = ("none", "all", "template")
#: Characters that names may not have, in the order in which Grid Engine looks for them.
_CHARACTER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        " ": "Space",
        "/": "Slash",
        ":": "Colon",
        "'": "Quote",
        '"': "Double quote",
        "\\": "Backslash",
        "[": "Brackets",
        "]": "Brackets",
        "{": "Braces",
        "}": "Braces",
        "|": "Pipe",
        "(": "Parenthesis",
        ")": "Parenthesis",
        "@": "At",
        "%": "Percent",
        ",": "Comma",
    }
)
HINT = "a name has a letter first, then letters, digits, _ and -; that of a set may have dots too"


def set_name_problem(name: str) -> str:
    """Return the problem of a set's name; empty if it is valid."""
    if len(name) > _MAX_LENGTH:
        return _TOO_LONG
    for character in _CHARACTER_NAMES:
        if character in name:
            return f"{_CHARACTER_NAMES[character]} ('{character}') not allowed in objectname"
    if name.startswith("."):
        return "Dot ('.') not allowed as first character of objectname"
    if name.lower() in _KEYWORDS:
        return f'Keyword ("{name.upper()}") not allowed as objectname'
    return _name_problem("resource quota set name", name, _SET_NAME)


def rule_name_problem(name: str) -> str:
    """Return the problem of a rule's name; empty if it is valid. A number is invalid: rules are addressed by numbers too."""
    return _name_problem("resource quota rule name", name, _NAME)


def _name_problem(what: str, name: str, pattern: re.Pattern[str]) -> str:
    if len(name) > _MAX_LENGTH:
        return _TOO_LONG
    return "" if pattern.fullmatch(name) else f'{what} "{quotable(name)}" is not valid'
