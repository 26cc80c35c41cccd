"""The exceptions of the Python interface, and the last error."""

from __future__ import annotations

from negotiator.classad.syntax import ClassAdError


class ClassAdException(ClassAdError):  # noqa: N818 - HTCondor's name
    """An ad or an expression could not be parsed, made or evaluated."""


class ClassAdValueError(ClassAdException, ValueError):
    """A text or a value is invalid, where HTCondor's ``classad2`` raises ``ValueError``."""
