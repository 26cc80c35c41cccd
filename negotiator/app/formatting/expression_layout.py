"""One style for the blanks in an expression: around operators, after commas, none inside brackets.

Only blanks between two tokens on one line are changed: lines, comments and the spelling of words, numbers and texts stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from negotiator.app.formatting.yaml_layout import Edit, edited
from negotiator.classad import ParseError, parse
from negotiator.classad.syntax import BAD, END, LITERAL, NAME, Token, tokenize, tree_key

_OPENING: Final = frozenset({"(", "[", "{"})
_CLOSING: Final = frozenset({")", "]", "}"})
_OPERAND_ENDS: Final = frozenset({NAME, LITERAL, *_CLOSING})
_SIGNS: Final = frozenset({"+", "-", "!", "~"})


def expression_edits(text: str) -> tuple[Edit, ...]:
    """Return the edits that give an expression the style; none if it does not parse, or would become another one."""
    edits = tuple(_edits(text))
    if not edits:
        return ()
    try:
        is_same = tree_key(parse(text)) == tree_key(parse(edited(text, edits)))
    except ParseError:
        return ()
    return edits if is_same else ()


def _edits(text: str) -> Iterator[Edit]:
    tokens = tokenize(text, old=False)
    if tokens[-1][0] is BAD:
        return
    before: Token | None = None
    for token, following in pairwise(tokens):
        if following[0] is END:
            return
        start, end = token[2], following[2]
        piece = text[start:end]
        written = piece.rstrip(" \t\r\n\v\f")
        gap = piece[len(written) :]
        is_sign = token[0] in _SIGNS and (before is None or before[0] not in _OPERAND_ENDS)
        before = token
        if "\n" in gap or _may_have_comment(written):
            continue
        wanted = gap if is_sign and following[0] is LITERAL else _gap(token, following, is_sign=is_sign)
        if gap != wanted:
            yield Edit(start + len(written), end, wanted)


def _may_have_comment(written: str) -> bool:
    """True if what is between two tokens may be more than blanks."""
    if written[:1] in {'"', "'"}:
        return not written.endswith(written[0])
    return "//" in written or "/*" in written


def _gap(token: Token, following: Token, *, is_sign: bool) -> str:
    """Return what is between two tokens on one line."""
    kind, after = token[0], following[0]
    if kind in _OPENING or after in _CLOSING or after in {",", ";"} or is_sign:
        return ""
    if kind == "." or (after == "." and kind in _OPERAND_ENDS):
        return ""
    if after == "(" and kind is NAME:
        return ""
    if after == "[" and kind in {NAME, *_CLOSING}:
        return ""
    return " "
