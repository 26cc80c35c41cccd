"""The report of policy tests: their results, and the coverage of the bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import attrs

from negotiator.app.policy_tests.coverage import (
    CoveredRules,
    ExpressionCoverage,
    RuleCoverage,
    UncoveredRule,
    expression_coverage,
    uncovered_rules,
)
from negotiator.app.policy_tests.task import PolicyTestResult, PolicyTestResults
from negotiator.bundle import Bundle
from negotiator.hooks.answers import HookFailure
from negotiator.records import Source


@attrs.frozen
class PolicyTestReport:
    """The results of all tests, in the order of the files, and the coverage of the bundle.

    Places have the folder of the bundle. ``failures`` are of plugins whose rules are not known.
    """

    results: tuple[PolicyTestResult, ...]
    expressions: tuple[ExpressionCoverage, ...]
    rules: tuple[RuleCoverage, ...] = ()
    failures: tuple[HookFailure, ...] = ()

    @property
    def failed(self) -> int:
        """The number of tests that did not pass."""
        return sum(not each.passed for each in self.results)

    @property
    def rules_to_cover(self) -> int:
        """The number of rules and expressions of the bundle."""
        rules = {(each.rule, each.source) for each in self.rules}
        return len(rules | {(each.rule, each.source) for each in self.expressions})

    @property
    def uncovered(self) -> tuple[UncoveredRule, ...]:
        """What the tests have not seen, in the order of the bundle."""
        return uncovered_rules(self.rules, self.expressions)


@attrs.define(eq=False)
class CollectedTests:
    """What the tests of a bundle have seen so far."""

    folder: Path
    rules: CoveredRules
    tested: list[PolicyTestResults] = attrs.field(factory=list)

    @classmethod
    def of(cls, bundle: Bundle) -> Self:
        """Begin with a bundle."""
        return cls(bundle.folder, CoveredRules.of(bundle))

    def add(self, tested: PolicyTestResults) -> None:
        """Add the results of further tests."""
        self.tested.append(tested)

    def report(self) -> PolicyTestReport:
        """Return the report of all tests."""
        undefined: dict[tuple[str, Source], str] = {}
        for each in self.tested:
            for key, attribute in each.undefined.items():
                undefined.setdefault(key, attribute)
        expressions = expression_coverage(
            (counts for each in self.tested for counts in each.counts), undefined
        )
        covered = self.rules.coverage(seen for each in self.tested for seen in each.at_work)
        return PolicyTestReport(
            tuple(result for each in self.tested for result in each.results),
            tuple(attrs.evolve(each, source=self._in_folder(each.source)) for each in expressions),
            tuple(attrs.evolve(each, source=self._in_folder(each.source)) for each in covered),
            self.rules.failures,
        )

    def _in_folder(self, source: Source) -> Source:
        """Return a place with the folder of the bundle before the file."""
        return attrs.evolve(source, file=str(self.folder / source.file))
