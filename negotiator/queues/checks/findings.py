"""Collect problems while a configuration is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from negotiator.queues.quantities import QuantityError, parse_quantity
from negotiator.records import Problem, ScalarText, Severity, Source

MAX_APPLICATIONS = 2**64 - 1

_WHOLE = re.compile(r"0|[1-9][0-9]*", re.ASCII)


@attrs.define
class Findings:
    """The problems found so far."""

    problems: list[Problem] = attrs.field(factory=list)

    def error(self, code: str, source: Source | None, message: str, hint: str = "") -> None:
        """Add an error: the configuration is unusable."""
        self.problems.append(Problem(Severity.ERROR, source or Source(""), message, hint, code=code))

    def warning(self, source: Source | None, message: str, hint: str = "") -> None:
        """Add a warning: probably not intended."""
        self.problems.append(Problem(Severity.WARNING, source or Source(""), message, hint))

    def notice(self, source: Source | None, message: str) -> None:
        """Add a notice: without effect."""
        self.problems.append(Problem(Severity.NOTICE, source or Source(""), message))

    def count(self, what: str, written: ScalarText | None) -> int:
        """Return a number of applications. Return 0 (unlimited) if missing or invalid."""
        if written is None:
            return 0
        digits = written.text
        if not written.quoted and _WHOLE.fullmatch(digits) and int(digits[:25]) <= MAX_APPLICATIONS:
            return int(digits)
        # YAML reads 010 as 8.
        hint = "remove the leading zeros" if digits.isdecimal() and digits[0] == "0" else "0 means unlimited"
        message = f"{what}: expected a non-negative whole number, got {digits[:40]!r}"
        self.error("yaml_schema", written.source, message, hint)
        return 0

    def resources(
        self, written: Mapping[str, ScalarText | None] | None, where: Source | None
    ) -> dict[str, int] | None:
        """Return amounts by resource, or None if one of them is invalid."""
        amounts: dict[str, int] = {}
        sound = True
        for name, text in (written or {}).items():
            try:
                amounts[name] = parse_quantity(name, text.text if text else "")
            except QuantityError as error:
                sound = False
                self.error(error.code, text.source if text else where, str(error), error.hint)
        return amounts if sound else None
