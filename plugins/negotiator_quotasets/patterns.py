"""Words against patterns: wildcards, expressions of them, and names of hosts.

Source: sge_types(1), "pattern" and "expression": ``*``, ``?`` and ``[...]``, joined by ``&`` and ``|``, negated by ``!``,
grouped by parentheses; without them the operators are taken from left to right.
"""

from __future__ import annotations

import enum
import fnmatch
import re
from collections.abc import Callable
from functools import lru_cache

_MAX_LENGTH = 1000  # of an expression: requests come from users
_MAX_DEPTH = 50
_WILD = re.compile(r"[*?\[]")
_TOKEN = re.compile(r"[()!&|]|(?:\[[!^]?\]?[^\]]*\]|[^()!&|])+")


class Folding(enum.Enum):
    """Whether case counts."""

    NONE = "none"
    CASE = "case"


def has_wildcards(text: str) -> bool:
    """Whether a text is a pattern, and not a name alone."""
    return _WILD.search(text) is not None


@lru_cache(1 << 16)
def matcher(pattern: str) -> Callable[[str], object]:
    """What tells whether a name is one that a pattern is for, all of it, as fnmatch(3) does: case counts."""
    return _compiled(pattern)


def _compiled(pattern: str) -> Callable[[str], object]:
    if not has_wildcards(pattern):
        return pattern.__eq__
    return re.compile(fnmatch.translate(pattern.replace("[^", "[!"))).match


#: The same of what jobs ask for: theirs are many and long, and must not fill the memory.
_asked = lru_cache(1 << 9)(_compiled)


def wildcard_matches(pattern: str, word: str, folding: Folding = Folding.NONE) -> bool:
    """Whether a pattern is for a word, all of it."""
    if folding is Folding.CASE:
        pattern, word = pattern.lower(), word.lower()
    return bool(_asked(pattern)(word))


def same_host(one: str, other: str) -> bool:
    """Whether two names are of one host: case does not count, nor the domain where one of them has none."""
    one, other = one.lower(), other.lower()
    if "." in one and "." in other:
        return one == other
    return one.partition(".")[0] == other.partition(".")[0]


def expression_matches(expression: str, word: str, folding: Folding = Folding.NONE) -> bool:
    """Whether an expression of patterns holds for a word.

    :raises ValueError: the expression can't be read, or is too long or too deep.
    """
    if len(expression) > _MAX_LENGTH:
        raise ValueError(f"an expression of patterns has at most {_MAX_LENGTH} characters")
    tokens = _TOKEN.findall(expression)
    held, rest = _joined(tokens, 0, word, folding, 0)
    if rest != len(tokens):
        raise ValueError(f"unexpected {tokens[rest]!r} in an expression of patterns")
    return held


def _joined(tokens: list[str], at: int, word: str, folding: Folding, depth: int) -> tuple[bool, int]:
    """What a row of operands comes to, and where it ends."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"parentheses in an expression of patterns may be {_MAX_DEPTH} deep")
    held, at = _operand(tokens, at, word, folding, depth)
    while at < len(tokens) and tokens[at] in ("&", "|"):
        other, after = _operand(tokens, at + 1, word, folding, depth)
        held = (held and other) if tokens[at] == "&" else (held or other)
        at = after
    return held, at


def _operand(tokens: list[str], at: int, word: str, folding: Folding, depth: int) -> tuple[bool, int]:
    negated = False
    while at < len(tokens) and tokens[at] == "!":
        negated, at = not negated, at + 1
    if at == len(tokens) or tokens[at] in (")", "&", "|"):
        raise ValueError("a pattern is missing in an expression of patterns")
    if tokens[at] == "(":
        held, at = _joined(tokens, at + 1, word, folding, depth + 1)
        if at == len(tokens) or tokens[at] != ")":
            raise ValueError("a parenthesis is not closed in an expression of patterns")
    else:
        held = wildcard_matches(tokens[at], word, folding)
    return held != negated, at + 1
