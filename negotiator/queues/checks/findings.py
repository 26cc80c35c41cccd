"""Collects what is wrong while a configuration is read."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.queues.quantities import QuantityError, parse_quantity
from negotiator.records import Problem, ScalarText, Severity, Source

MAX_APPLICATIONS = 2**64 - 1


@attrs.define
class Findings:
    """The problems found so far."""

    problems: list[Problem] = attrs.field(factory=list)

    def error(self, code: str, source: Source | None, message: str, hint: str = "") -> None:
        """Note what makes the configuration unusable."""
        self.problems.append(Problem(Severity.ERROR, source or Source(""), message, hint, code=code))

    def warning(self, source: Source | None, message: str, hint: str = "") -> None:
        """Note what is probably not meant."""
        self.problems.append(Problem(Severity.WARNING, source or Source(""), message, hint))

    def notice(self, source: Source | None, message: str) -> None:
        """Note what has no effect."""
        self.problems.append(Problem(Severity.NOTICE, source or Source(""), message))

    def count(self, what: str, written: ScalarText | None) -> int:
        """A number of applications; 0, which is no limit, where there is none or it is none."""
        if written is None:
            return 0
        digits = written.text
        if (
            not written.quoted
            and digits.isascii()
            and digits.isdecimal()
            and int(digits[:25]) <= MAX_APPLICATIONS
        ):
            return int(digits)
        hint = "0, or nothing, is no limit"
        message = f"{what}: expected a whole number that is not negative, got {digits[:40]!r}"
        self.error("yaml_schema", written.source, message, hint)
        return 0

    def resources(
        self, written: Mapping[str, ScalarText | None] | None, where: Source | None
    ) -> dict[str, int] | None:
        """Amounts by resource; None where one of them is wrong."""
        amounts: dict[str, int] = {}
        sound = True
        for name, text in (written or {}).items():
            try:
                amounts[name] = parse_quantity(name, text.text if text else "")
            except QuantityError as error:
                sound = False
                self.error(error.code, text.source if text else where, str(error), error.hint)
        return amounts if sound else None
