"""Splits text into tokens, in the new syntax and in that of long-form lines (SEMANTICS sections 2 and 7).

For operators and punctuation the kind of a token is its text; ``is`` and ``isnt`` become ``=?=`` and ``=!=``. Other
kinds are ``LITERAL`` (the value is a ``Literal``), ``NAME`` (the value is the name), ``END`` and ``BAD`` (the value is
the error message). The lexer never raises: in the old syntax, text after a complete expression is ignored even if it
is invalid.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from negotiator.classad.syntax.tree import Literal
from negotiator.classad.values import ERROR, UNDEFINED, real_prefix

LITERAL: Final = "literal"
NAME: Final = "name"
END: Final = "end of text"
BAD: Final = "bad"

MAX_TOKENS: Final = 250_000
INT64_MAX: Final = 2**63 - 1

Token: TypeAlias = tuple[str, Any, int]
"""Kind, value (a Literal for kind LITERAL, else a str) and offset in the text."""

_CONSTANTS: Final = {
    "true": Literal(True),
    "false": Literal(False),
    "undefined": Literal(UNDEFINED),
    "error": Literal(ERROR),
}
_WORD_OPERATORS: Final = {"is": "=?=", "isnt": "=!="}
RESERVED: Final = frozenset({*_CONSTANTS, *_WORD_OPERATORS})

# Each alternative can match in one way only, which keeps matching linear. Only character sets are possessive: before
# Python 3.11.5 possessive groups do not always match (CPython issue 106052).
#
# A comment that runs to the end of the text is an error, as in HTCondor, which wraps an expression in brackets on one
# line.
_COMMON: Final = r"""
    (?P<space>   (?: [ \t\n\v\f\r]++ | //[^\n]*+\n | /\*(?s:.*?)\*/ )+ )
  | (?P<name>    [A-Za-z_][A-Za-z0-9_]*+ )
  | (?P<hex>     0[xX][0-9a-fA-F]++ (?: \.[0-9]++ (?: [eE][+-]?[0-9]++ )? )? )
  | (?P<number>  (?: [0-9]++ (?:\.[0-9]++)? | \.{1,2}[0-9]++ ) (?: [eE][+-]?[0-9]++ )? )
  | (?P<elvis>   \?[ \t\n\v\f\r]*+: )
  | (?P<comment> //|/\* )
  | (?P<op>      =\?= | =!= | [=!<>]= | << | >>>? | && | \|\| | \.\.? | [-+*/%~^?:;,()\[\]{}=!<>&|] )
"""
_NEW: Final = re.compile(
    _COMMON
    + r"""
  | (?P<string>  "[^"\\]*+(?:\\(?s:.)[^"\\]*+)*" (?: [ \t\n\v\f\r]*+ "[^"\\]*+(?:\\(?s:.)[^"\\]*+)*" )* )
  | (?P<quoted>  '[^'\\]*+(?:\\(?s:.)[^'\\]*+)*' (?: [ \t\n\v\f\r]*+ '[^'\\]*+(?:\\(?s:.)[^'\\]*+)*' )* )
  | (?P<bad>     (?s:.) )
""",
    re.VERBOSE,
)
# A quote after a backslash is part of the string unless the line ends after it.
_OLD: Final = re.compile(
    _COMMON
    + r"""
  | (?P<string>  " [^"]*+ (?: (?<=\\)"(?!\n|\Z) [^"]*+ )* (?: (?<!\\)" | "(?=\n|\Z) ) )
  | (?P<quoted>  ' [^']*+ (?: (?<=\\)'(?!\n|\Z) [^']*+ )* (?: (?<!\\)' | '(?=\n|\Z) ) )
  | (?P<bad>     (?s:.) )
""",
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|(?s:.))")
_PARTS: Final = {
    quote: re.compile(rf"{quote}([^{quote}\\]*+(?:\\(?s:.)[^{quote}\\]*+)*){quote}") for quote in "\"'"
}
_SIMPLE_ESCAPES: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

# After one of these kinds a minus is an operator. Elsewhere it may begin a number.
_OPERAND_ENDS: Final = frozenset({LITERAL, NAME, ")", "]", "}", "."})
_NO_FRACTION: Final = "a digit must follow the decimal point"
_NO_EXPONENT: Final = "digits must follow the exponent sign"
_NOT_DECIMAL: Final = "an integer must be decimal, without leading zeros"


def tokenize(text: str, *, old: bool) -> list[Token]:
    """Return the tokens of ``text``; the last one is of kind END or BAD."""
    tokens: list[Token] = []
    append = tokens.append
    previous = ""  # the kind of the last token
    minus = -1  # the end of the last token if it is a minus where an operand is expected
    for match in (_OLD if old else _NEW).finditer(text):
        group = match.lastgroup
        if group == "space":
            continue
        start = match.start()
        value: Any = match[0]
        if group == "op":
            minus = match.end() if value == "-" and previous not in _OPERAND_ENDS else -1
            previous = "." if value == ".." else value  # HTCondor reads two dots as one
            append((previous, value, start))
            continue
        if group == "name":
            kind, value = _word(match[0])
        elif group in _NUMBERS:
            negative = minus == start and not value.startswith("..")
            if negative:
                start = tokens.pop()[2]
            kind, value = _NUMBERS[group](value, text[match.end() : match.end() + 1], negative)
        elif group == "string":
            kind, value = _string(match[0], old=old)
        elif group == "quoted":
            kind, value = _quoted_name(match[0], old=old)
        elif group == "elvis":
            kind, value = "?:", "?:"
        else:
            kind, value = BAD, _complaint(match[0])
        append((kind, value, start))
        previous = kind
        if kind is BAD:
            return tokens
        if len(tokens) > MAX_TOKENS:
            append((BAD, f"the text has more than {MAX_TOKENS} tokens", start))
            return tokens
    append((END, "", len(text)))
    return tokens


def _word(word: str) -> tuple[str, Literal | str]:
    lower = word.lower()
    if lower not in RESERVED:
        return NAME, word
    if lower in _CONSTANTS:
        return LITERAL, _CONSTANTS[lower]
    return _WORD_OPERATORS[lower], word


def _number(digits: str, following: str, negative: bool) -> tuple[str, Literal | str]:  # noqa: FBT001 - see _NUMBERS
    """Return the token of a decimal number; ``following`` is the character after it."""
    if digits.isdigit():
        if following == ".":
            return BAD, _NO_FRACTION
        if following and following in "eE":
            return BAD, _NO_EXPONENT
        if digits[0] == "0" and not _may_start_with_zero(digits, following, negative=negative):
            return BAD, _NOT_DECIMAL
        return LITERAL, Literal(_int64(digits, negative=negative))
    if following and following in "eE" and "e" not in digits.lower():
        return BAD, _NO_EXPONENT
    if digits.startswith(".."):  # HTCondor takes it for a number, but finds none when it converts the text
        return LITERAL, Literal(0.0)
    return LITERAL, Literal(float(f"-{digits}" if negative else digits))


def _may_start_with_zero(digits: str, following: str, *, negative: bool) -> bool:
    """True if HTCondor accepts an integer that starts with 0. After a minus it does not see the leading zeros.

    It takes such digits for octal, and only later converts them as decimal.
    """
    if len(digits) == 1:
        return not following or following not in "xX"
    return negative and not set(digits) & {"8", "9"}


def _hexadecimal(digits: str, following: str, negative: bool) -> tuple[str, Literal | str]:  # noqa: FBT001
    """Return the token of a number that starts with ``0x``: only reals, and after a minus the integer 0, are accepted.

    HTCondor scans hexadecimal digits, then refuses integers with a leading 0, or converts the decimal digits before the
    ``x``. A real is converted by ``strtod``, which takes all digits for hexadecimal, even those of the exponent.
    """
    _, point, fraction = digits.partition(".")
    if following == "." and not point:
        return BAD, _NO_FRACTION
    if not point:
        return (LITERAL, Literal(0)) if negative else (BAD, _NOT_DECIMAL)
    if following and following in "eE" and "e" not in fraction.lower():
        return BAD, _NO_EXPONENT
    value = real_prefix(digits) or 0.0  # the pattern requires digits
    return LITERAL, Literal(-value if negative else value)


_NUMBERS: Final[dict[str | None, Callable[[str, str, bool], tuple[str, Literal | str]]]] = {
    "number": _number,
    "hex": _hexadecimal,
}


def _int64(digits: str, *, negative: bool) -> int:
    """Return the integer, or 0 if it does not fit 64 bits, as HTCondor does. Never converts thousands of digits."""
    significant = digits.lstrip("0") or "0"
    if len(significant) > 19:
        return 0
    number = int(significant)
    if number > INT64_MAX + negative:
        return 0
    return -number if negative else number


def _string(source: str, *, old: bool) -> tuple[str, Literal | str]:
    if old:
        return LITERAL, Literal(source[1:-1].replace('\\"', '"') if "\\" in source else source[1:-1])
    text = _unescaped(source, '"')
    return (BAD, "a string cannot hold the character NUL") if text is None else (LITERAL, Literal(text))


def _quoted_name(source: str, *, old: bool) -> tuple[str, str]:
    if old:
        return NAME, source[1:-1].replace("\\'", "'")
    name = _unescaped(source, "'")
    return (BAD, "a name cannot hold the character NUL") if name is None else (NAME, name)


def _unescaped(source: str, quote: str) -> str | None:
    """Join adjacent string literals and resolve their escapes. Return None if one is a NUL."""
    body = source[1:-1]
    if quote in body:
        body = "".join(_PARTS[quote].findall(source))
    return resolve_escapes(body)


def resolve_escapes(body: str) -> str | None:
    """Return a text with its escapes resolved, None if one is a NUL. A backslash at the end is no escape."""
    if "\\" not in body:
        return body
    text = _ESCAPE.sub(_escape, body)
    if not text.isascii():  # octal escapes may be the bytes of one character
        text = text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return None if "\0" in text else text


def _escape(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "01234567":
        byte = int(code, 8)
        return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)
    return _SIMPLE_ESCAPES.get(code, code)


def _complaint(source: str) -> str:
    if source == "//":
        return "a comment must end before the text does"
    if source == "/*":
        return "a comment is not closed"
    if source in "\"'":
        return "a quote is not closed"
    return "unexpected character"
