"""A problem of an input: a message, its place in a file (line and column), and a remedy."""

from __future__ import annotations

import enum

import attrs

#: The file of a setting that is not in the bundle, but in the configuration of the service.
SERVICE_CONFIGURATION = "the configuration of the service"


@attrs.frozen(order=True)
class Source:
    """A place in a file; lines and columns count from 1, and 0 means unknown."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """``pool.yaml:12:3``, as compilers and editors write it."""
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class Severity(enum.StrEnum):
    """How serious a problem is: an error refuses a bundle or an ad, a warning does not, a notice names a setting without effect."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@attrs.frozen
class Problem:
    """One problem of a bundle, of an ad or of a file of ads.

    ``excerpt`` is the line of the problem, for a caret below ``source.column``; empty if it is unknown or would show a
    secret. ``hint`` is the remedy. ``code`` is for programs and is not shown to people.

    >>> import negotiator as n
    >>> [problem.severity for problem in n.load_bundle("policies/limits").problems]
    []
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
