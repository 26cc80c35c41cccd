"""Names of sets and of rules.

Source: "Resource Quota Sets", grammar, ``NAME``; the messages are the qmaster's, which checks any object's name so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from negotiator_quotasets.language.lexer import quotable

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*", re.ASCII)
_MAX_LENGTH = 512
_KEYWORDS = ("none", "all", "template")
_CALLED: Mapping[str, str] = MappingProxyType(
    {
        "/": "Slash",
        ":": "Colon",
        "'": "Quote",
        "\\": "Backslash",
        "[": "Bracket",
        "]": "Bracket",
        "{": "Brace",
        "}": "Brace",
        "|": "Pipe",
        "(": "Parenthesis",
        ")": "Parenthesis",
        "@": "At",
        "%": "Percent",
        '"': "Double quote",
        ",": "Comma",
        " ": "Space",
    }
)
HINT = "a name has a letter first, then letters, digits, _ and -"


def set_name_problem(name: str) -> str:
    """What is wrong with the name of a set, or nothing."""
    for character in name[: _MAX_LENGTH + 1]:
        if character in _CALLED:
            return forbidden(character)
    if name.lower() in _KEYWORDS:
        return f'Keyword ("{name.upper()}") not allowed as objectname'
    return _name_problem("resource quota set name", name)


def rule_name_problem(name: str) -> str:
    """What is wrong with the name of a rule, or nothing. A number is none: rules are addressed by numbers, too."""
    return _name_problem("resource quota rule name", name)


def forbidden(character: str) -> str:
    """That a character may not stand in a name."""
    return f"{_CALLED[character]} ('{character}') not allowed in objectname"


def _name_problem(what: str, name: str) -> str:
    if len(name) > _MAX_LENGTH:
        return f"string is longer than {_MAX_LENGTH}, this is not allowed for objectnames"
    return "" if _NAME.fullmatch(name) else f'{what} "{quotable(name)}" is not valid'
