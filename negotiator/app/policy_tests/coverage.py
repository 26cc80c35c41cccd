"""Which expressions of a bundle its tests have seen true, false and undefined."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from negotiator.app.policy_counts import PolicyCount


@attrs.frozen
class ExpressionCoverage:
    """How many ads or pairs of all tests an expression is true, false, undefined and anything else for."""

    rule: str
    true: int = 0
    false: int = 0
    undefined: int = 0
    invalid: int = 0

    @property
    def is_covered(self) -> bool:
        """True if the tests have seen it both true and false."""
        return bool(self.true and self.false)

    def plus(self, count: PolicyCount) -> ExpressionCoverage:
        """Return the sum with the counts of one more test."""
        return ExpressionCoverage(
            self.rule,
            self.true + count.true,
            self.false + count.false,
            self.undefined + count.undefined,
            self.invalid + count.invalid,
        )


def coverage(tests: Iterable[Iterable[PolicyCount]]) -> tuple[ExpressionCoverage, ...]:
    """Return the coverage of each expression, in the order of the bundle."""
    found: dict[str, ExpressionCoverage] = {}
    for counts in tests:
        for count in counts:
            found[count.rule] = found.get(count.rule, ExpressionCoverage(count.rule)).plus(count)
    return tuple(found.values())
