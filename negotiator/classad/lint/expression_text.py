"""Finds a part of an expression in its text by its tokens, since trees have no positions."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import attrs

from negotiator.classad.syntax import BAD, END, NAME, Expr, Token, excerpt, fold, shorten, tokenize, unparse
from negotiator.records.text import printable

MAX_TEXT: Final = 20_000
"""Longest text in which parts are searched, in characters."""

MAX_SHOWN: Final = 60
_ALIASES: Final = {"self": "my", "other": "target"}
"""Spellings that ``bind`` replaces."""


@attrs.frozen
class ExpressionText:
    """The text of an expression, None if it is not known."""

    text: str | None = None

    def span(self, part: Expr) -> tuple[int, int] | None:
        """Return the start and end of the first occurrence of a part (characters, from 0).

        None if the text is not known, or has the part in another form.
        """
        if self.text is None or len(self.text) > MAX_TEXT:
            return None
        expected = [_plain(token) for token in _tokens(unparse(part))]
        count = len(expected)
        for start in range(len(self._tokens) - count + 1):
            if self._plain[start : start + count] == expected and not self._is_piece(start, count):
                end = self._starts[start + count]
                begin = self._starts[start]
                return begin, begin + len(self.text[begin:end].rstrip())
        return None

    def shown(self, part: Expr) -> str:
        """Return a part for a message: as written, shortened, on one line, printable."""
        span = self.span(part)
        if span is None or self.text is None:
            return printable(excerpt(part, MAX_SHOWN)).strip()
        return printable(shorten(" ".join(self.text[slice(*span)].split()), MAX_SHOWN))

    @cached_property
    def _tokens(self) -> list[Token]:
        return _tokens(self.text or "")

    @cached_property
    def _plain(self) -> list[tuple[str, object]]:
        return [_plain(token) for token in self._tokens]

    @cached_property
    def _starts(self) -> list[int]:
        return [*(start for _, _, start in self._tokens), len(self.text or "")]

    def _is_piece(self, start: int, count: int) -> bool:
        """True if a name is only the end of ``MY.name``, or the function of a call."""
        kinds = [kind for kind, _ in self._plain]
        before = kinds[start - 1] if start else ""
        after = kinds[start + count] if start + count < len(kinds) else ""
        return kinds[start] == NAME and (before == "." or (count == 1 and after in {"(", "."}))


def moved(offset: int, text: str, into: str) -> int | None:
    """Return the position in ``into`` of the token at ``offset`` of ``text``.

    ``into`` must begin with the same tokens, up to that one at least; white space and comments between them may differ.
    None if it does not, or if no token begins at the offset.
    """
    own, other = _tokens(text), _tokens(into)
    for (kind, value, start), token in zip(own, other, strict=False):
        if _plain((kind, value, start)) != _plain(token):
            return None
        if start == offset:
            return token[2]
    return None


def _tokens(text: str) -> list[Token]:
    return [token for token in tokenize(text, old=False) if token[0] not in {END, BAD}]


def _plain(token: Token) -> tuple[str, object]:
    kind, value, _ = token
    if kind == NAME:
        return kind, _ALIASES.get(fold(value), fold(value))
    return kind, kind if isinstance(value, str) else value
