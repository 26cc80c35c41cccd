"""The exceptions of the ClassAd language."""

from __future__ import annotations

from negotiator.errors import NegotiatorError


class ClassAdError(NegotiatorError):
    """Root of the exceptions of the ClassAd language."""


class ParseError(ClassAdError, ValueError):
    """Invalid text of an expression or an ad, and where: ``line`` and ``column`` count from 1."""

    def __init__(self, message: str, text: str, line: int, column: int) -> None:
        super().__init__(message, text, line, column)
        self.message = message
        self.text = text
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.message} at line {self.line}, column {self.column}"


class InvalidAdValueError(ClassAdError, ValueError):
    """A value in JSON or XML that no ad can hold."""
