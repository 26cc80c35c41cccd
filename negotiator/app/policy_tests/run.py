"""Runs policy tests: one production cycle each, and what of its decisions is not as expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.policy_counts import PolicyCount, policy_counts
from negotiator.app.policy_tests.coverage import ExpressionCoverage, coverage
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.expectations import Mismatch, mismatches
from negotiator.app.policy_tests.file import PolicyTest, read_policy_tests
from negotiator.app.targets import load
from negotiator.errors import InvalidCallError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Source

PATTERN: Final = "*_test.yaml"


@attrs.frozen
class PolicyTestResult:
    """One test of a file, and what was not as expected; it passed if that is nothing."""

    file: Path
    name: str
    source: Source
    mismatches: tuple[Mismatch, ...]

    @property
    def passed(self) -> bool:
        """True if everything was as expected."""
        return not self.mismatches


@attrs.frozen
class PolicyTestReport:
    """The results of all tests, in the order of the files, and which expressions they have seen with which values."""

    results: tuple[PolicyTestResult, ...]
    expressions: tuple[ExpressionCoverage, ...]

    @property
    def failed(self) -> int:
        """The number of tests that did not pass."""
        return sum(not each.passed for each in self.results)


def policy_test_files(bundle: Path | None, paths: Sequence[Path]) -> tuple[Path, ...]:
    """Return the files of tests: those that are named, of named folders those called ``*_test.yaml``, by default those of the bundle.

    :raises InvalidCallError: there is none.
    """
    folders = paths or ((bundle,) if bundle is not None else ())
    found = [file for path in folders for file in (sorted(path.rglob(PATTERN)) if path.is_dir() else [path])]
    if not found:
        where = ", ".join(map(str, folders)) or "the built-in bundle"
        raise InvalidCallError(f"no tests in {where}: name files, or write {PATTERN} beside the policies")
    return tuple(found)


def run_tests(
    targets: CommandTargets, paths: Sequence[Path], *, strict_undefined: bool = False
) -> PolicyTestReport:
    """Run the tests of a bundle.

    :param paths: files and folders of tests; by default those of the bundle.
    :param strict_undefined: a test fails if an expression of the bundle is undefined for one of its ads or pairs.
    :raises BundleError: the bundle has errors.
    :raises SettingsError: a file of tests has errors.
    :raises InvalidCallError: there are no tests.
    """
    files = policy_test_files(targets.bundle, paths)
    bundle = load(targets)
    results: list[PolicyTestResult] = []
    counts: list[tuple[PolicyCount, ...]] = []
    for file in files:
        for test in read_policy_tests(file).tests:
            decided = PolicyTestCycle.of(test, bundle)
            counts.append(policy_counts(bundle, decided.pool, decided.cycle.now))
            found = [*mismatches(test, decided)]
            if strict_undefined:
                found += _undefined(test, counts[-1])
            results.append(PolicyTestResult(file, test.name.text, test.name.source, tuple(found)))
    return PolicyTestReport(tuple(results), coverage(counts))


def _undefined(test: PolicyTest, counts: Sequence[PolicyCount]) -> Iterator[Mismatch]:
    for each in counts:
        if each.undefined or each.invalid:
            yield Mismatch(test.name.source, f"undefined or invalid: {each}")
