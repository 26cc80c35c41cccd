"""Patterns: wildcards, expressions of them, and names of hosts.

Source: sge_types(1), "pattern" and "expression": ``*``, ``?`` and ``[...]``, joined by ``&`` and ``|``, negated by ``!``,
grouped by parentheses; without parentheses the operators are applied from left to right.
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
    """Whether case is ignored (CASE) or not (NONE)."""

    NONE = "none"
    CASE = "case"


def has_wildcards(text: str) -> bool:
    """True if a text is a pattern, not a plain name."""
    return _WILD.search(text) is not None


@lru_cache(1 << 13)  # names in requests by HTTP are patterns too
def matcher(pattern: str) -> Callable[[str], object]:
    """Return a predicate: true if all of a name matches the pattern, case-sensitively, as in fnmatch(3)."""
    return _compiled(pattern)


def queue_matches(name: str, queue: str) -> bool:
    """True if an entry of a filter matches a queue: by its leaf's name, or, with a dot, by its path.

    A path may leave out the root. Names of queues ignore case.
    """
    matches, queue = matcher(name.lower()), queue.lower()
    if "." not in name:
        return bool(matches(queue.rpartition(".")[2]))
    return bool(matches(queue) or matches(queue.removeprefix("root.")))


def _compiled(pattern: str) -> Callable[[str], object]:
    if not has_wildcards(pattern):
        return pattern.__eq__
    return re.compile(fnmatch.translate(pattern.replace("[^", "[!"))).match


# A cache apart for patterns of jobs: there are many and long ones, which must not fill the memory.
_compiled_request = lru_cache(1 << 9)(_compiled)


def wildcard_matches(pattern: str, word: str, folding: Folding = Folding.NONE) -> bool:
    """True if all of a word matches a pattern."""
    if folding is Folding.CASE:
        pattern, word = pattern.lower(), word.lower()
    return bool(_compiled_request(pattern)(word))


def same_host(one: str, other: str) -> bool:
    """True if two names denote one host: case is ignored, and so is the domain if one name has none."""
    one, other = one.lower(), other.lower()
    if "." in one and "." in other:
        return one == other
    return one.partition(".")[0] == other.partition(".")[0]


def expression_matches(expression: str, word: str, folding: Folding = Folding.NONE) -> bool:
    """True if a word matches an expression of patterns.

    :raises ValueError: invalid expression, or one that is too long or too deep.
    """
    if len(expression) > _MAX_LENGTH:
        raise ValueError(f"an expression of patterns has at most {_MAX_LENGTH} characters")
    tokens = _TOKEN.findall(expression)
    result, end = _operands(tokens, 0, word, folding, 0)
    if end != len(tokens):
        raise ValueError(f"unexpected {tokens[end]!r} in an expression of patterns")
    return result


def _operands(tokens: list[str], at: int, word: str, folding: Folding, depth: int) -> tuple[bool, int]:
    """Evaluate operands joined by operators; return the result and the index of the token after them."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"parentheses in an expression of patterns may be {_MAX_DEPTH} deep")
    result, at = _operand(tokens, at, word, folding, depth)
    while at < len(tokens) and tokens[at] in ("&", "|"):
        other, end = _operand(tokens, at + 1, word, folding, depth)
        result = (result and other) if tokens[at] == "&" else (result or other)
        at = end
    return result, at


def _operand(tokens: list[str], at: int, word: str, folding: Folding, depth: int) -> tuple[bool, int]:
    negated = False
    while at < len(tokens) and tokens[at] == "!":
        negated, at = not negated, at + 1
    if at == len(tokens) or tokens[at] in (")", "&", "|"):
        raise ValueError("missing pattern in an expression of patterns")
    if tokens[at] == "(":
        result, at = _operands(tokens, at + 1, word, folding, depth + 1)
        if at == len(tokens) or tokens[at] != ")":
            raise ValueError("missing closing parenthesis in an expression of patterns")
    else:
        result = wildcard_matches(tokens[at], word, folding)
    return result != negated, at + 1
