"""Runs some tests of a bundle: one production cycle each, and the differences from what is expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import attrs

from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.policy_counts import PolicyCount, policy_counts
from negotiator.app.policy_tests.coverage import CoveredRules
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.expectations import Mismatch, mismatches, undefined_expressions
from negotiator.app.policy_tests.file import PolicyTest
from negotiator.bundle.rules import BundleRule
from negotiator.records import Source
from negotiator.runtime.collector import rare_collections


@attrs.frozen
class PolicyTestResult:
    """One test of a file, and its differences from what is expected; it passed if there are none."""

    file: Path
    name: str
    source: Source
    mismatches: tuple[Mismatch, ...]

    @property
    def passed(self) -> bool:
        """True if everything was as expected."""
        return not self.mismatches


@attrs.frozen
class PolicyTestResults:
    """The results of some tests of a bundle, and what they have seen of it, a value for each test.

    ``undefined`` are the expressions that are undefined without an attribute of these tests (``undefined_expressions``).
    """

    results: tuple[PolicyTestResult, ...]
    counts: tuple[tuple[PolicyCount, ...], ...]
    at_work: tuple[frozenset[BundleRule], ...]
    undefined: Mapping[tuple[str, Source], str]


@attrs.frozen
class PolicyTestTask:
    """Runs tests of a bundle. Other processes get a copy of the task, so it is small.

    :param strict_undefined: a test fails if an expression of the bundle is undefined for one of its ads or pairs; none then has to be seen so.
    """

    bundle: BundleChoice
    strict_undefined: bool

    def portable(self) -> Self:
        """Return the task with the contents of all files that it reads, for workers on other machines."""
        return attrs.evolve(self, bundle=self.bundle.portable())

    def __call__(self, file: Path, tests: Sequence[PolicyTest]) -> PolicyTestResults:
        """Run some tests of a file, which is not read.

        :raises SettingsError: a test is invalid.
        :raises BundleError, CommandError: the bundle cannot be loaded.
        """
        with rare_collections():
            return self._tested(file, tests)

    def _tested(self, file: Path, tests: Sequence[PolicyTest]) -> PolicyTestResults:
        bundle = self.bundle.bundle()
        rules = CoveredRules.of(bundle)
        results, counts, at_work, pools = [], [], [], []
        for test in tests:
            decided = PolicyTestCycle.of(test, bundle)
            pools.append((decided.pool, decided.cycle.now))
            counts.append(policy_counts(bundle, *pools[-1]))
            at_work.append(rules.at_work(decided))
            found = [*mismatches(test, decided)]
            if self.strict_undefined:
                found += _undefined(test, counts[-1])
            results.append(PolicyTestResult(file, test.name.text, test.name.source, tuple(found)))
        undefined = {} if self.strict_undefined else undefined_expressions(bundle, pools)
        return PolicyTestResults(tuple(results), tuple(counts), tuple(at_work), undefined)


def _undefined(test: PolicyTest, counts: Sequence[PolicyCount]) -> Iterator[Mismatch]:
    for each in counts:
        if each.undefined or each.invalid:
            yield Mismatch(test.name.source, f"undefined or invalid: {each}")
