"""Strings as the language writes them."""

from __future__ import annotations

from negotiator.classad.bindings.errors import ClassAdValueError
from negotiator.classad.bindings.from_python import string_literal
from negotiator.classad.syntax import Literal, ParseError, parse, unparse


def quote(input: str | None) -> str:  # noqa: A002 - HTCondor's name
    """Return a string in quotes, with escapes, for use in the text of an expression. None is the empty string.

    :raises TypeError: it is neither a string nor None.
    :raises ClassAdValueError: it holds a NUL, or a character without bytes.
    """
    return unparse(string_literal(_checked(input)))


def unquote(input: str) -> str:  # noqa: A002 - HTCondor's name
    """Return the string of which this is the text in quotes.

    :raises TypeError: it is not a string.
    :raises ClassAdValueError: the text is not that of one string.
    """
    try:
        expr = parse(_checked(input))
    except ParseError as error:
        raise ClassAdValueError(f"Invalid string to unquote: {error}") from None
    if not isinstance(expr, Literal):
        raise ClassAdValueError("String does not parse to a ClassAd literal")
    if not isinstance(expr.value, str):
        raise ClassAdValueError("ClassAd literal is not a string value")
    return expr.value


def _checked(text: object) -> str:
    if text is None:
        return ""
    if not isinstance(text, str):
        raise TypeError(f"argument 1 must be str or None, not {type(text).__name__}")
    if "\0" in text:
        raise ClassAdValueError("embedded null character: remove it from the string")
    return text
