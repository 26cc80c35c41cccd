"""What was wrong with an input, where, and what to do about it."""

from __future__ import annotations

import enum

import attrs

from negotiator.records.source import Source


class Severity(enum.StrEnum):
    """An error keeps a bundle or an ad out; a warning does not; a notice only says that something has no effect."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@attrs.frozen
class Problem:
    """One problem of a bundle, of an ad or of a file of ads.

    ``excerpt`` is the line it stands in, for a caret below ``source.column``; empty where it is not known or would
    show a secret. ``hint`` says what to do about it. ``code`` names what is wrong in a word, for machines, where
    somebody needs it: it is no part of what people are told.
    """

    severity: Severity
    source: Source
    message: str
    hint: str = ""
    excerpt: str = ""
    code: str = ""

    def __str__(self) -> str:
        """``pool.yaml:12:3: error: message (hint)``, one line."""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.source}: {self.severity}: {self.message}{hint}"
