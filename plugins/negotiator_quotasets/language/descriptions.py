"""Descriptions of sets: quoted, or up to the end of the line; stored as written.

Source: "Resource Quota Sets", grammar, ``description``; the qmaster takes the rest of the line, quoted or not. As there, a
closing brace ends the set, even in quotes.
"""

from __future__ import annotations

import re

from negotiator_quotasets.language.lexer import LogicalLine, SyntaxProblemError

_PIECE = re.compile(r"\\.|\"", re.DOTALL)
_WORD = re.compile(r".[^ \t\"]*")
_NONE = re.compile(r"NONE(?![^ \t}])", re.IGNORECASE)


def read_description(line: LogicalLine, words: tuple[str, ...]) -> str:
    """Parse a description; a quoted one, or NONE, may be followed by one of ``words`` on the same line.

    Quotes may be inside, also a single one (``17" screens``); only a quote at the beginning needs a second one.

    :raises SyntaxProblemError: unclosed quote, or unprintable characters.
    """
    source, start = line.source(), line.at
    end = _end(line.text, start)
    if end > start:
        line.at = end
    if line.at == start or not (line.peek() in ("", "}") or line.next_word() in words):
        line.at = len(line.text)
        quotes = sum(piece[0] == '"' for piece in _PIECE.finditer(line.text, start))
        if quotes == 1 and line.text.startswith('"', start):
            hint = 'end it with a double quote, and write a quote inside it as \\"'
            raise SyntaxProblemError("the description has a quote that is not closed", source, hint)
    text = line.text[start : line.at].strip(" \t")
    if "}" in text:
        raise _closed(line, line.text.index("}", start))
    if not text.replace("\t", " ").isprintable() or text.endswith("\\"):
        hint = "leave out what cannot be printed, and a backslash at the end, which would join lines"
        raise SyntaxProblemError("the description has a character that cannot be stored", source, hint)
    return text


def _closed(line: LogicalLine, at: int) -> SyntaxProblemError:
    """Return Grid Engine's error for a set that ends in its description: the next word does not begin another one.

    The line is that of the character after the word.
    """
    rest = line.text[at + 1 :].lstrip(" \t")
    word = _WORD.match(rest)
    ends = not word or word.end() == len(rest)
    message = (
        f'each value in the attribute value list in line {line.source(at).line + ends} should begin with "{{"'
    )
    return SyntaxProblemError(
        message, line.source(at), "a closing brace ends the set: leave it out of the description", fatal=True
    )


def _end(text: str, start: int) -> int:
    """Return the end of a description that is quoted or NONE; ``start`` for any other."""
    if text.startswith('"', start):
        closing = next((piece for piece in _PIECE.finditer(text, start + 1) if piece[0] == '"'), None)
        return start if closing is None else closing.end()
    none = _NONE.match(text, start)
    return start if none is None else none.end()
