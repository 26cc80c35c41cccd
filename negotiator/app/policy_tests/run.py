"""Runs policy tests: one production cycle each, and the differences from what is expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.policy_counts import PolicyCount, policy_counts
from negotiator.app.policy_tests.coverage import (
    CoveredRules,
    ExpressionCoverage,
    RuleCoverage,
    UncoveredRule,
    expression_coverage,
    uncovered_rules,
)
from negotiator.app.policy_tests.cycle import PolicyTestCycle
from negotiator.app.policy_tests.expectations import Mismatch, mismatches
from negotiator.app.policy_tests.file import PolicyTest, read_policy_tests
from negotiator.app.policy_tests.undefined import undefined_expressions
from negotiator.app.targets import load
from negotiator.bundle import Bundle
from negotiator.bundle.rules import BundleRule
from negotiator.errors import InvalidCallError
from negotiator.hooks.answers import HookFailure
from negotiator.hooks.command_targets import CommandTargets
from negotiator.pool import Snapshot
from negotiator.records import Source

PATTERN: Final = "*_test.yaml"


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
    """Run the tests of one or several bundles; without a bundle, each file is a test of the one in its folder.

    :param paths: files and folders of tests; by default those of the bundle.
    :param strict_undefined: a test fails if an expression of the bundle is undefined for one of its ads or pairs; none then has to be seen so.
    :raises BundleError: a bundle has errors.
    :raises SettingsError: a file of tests has errors.
    :raises InvalidCallError: there are no tests.
    """
    by_bundle: dict[Path, list[Path]] = {}
    for file in policy_test_files(targets.bundle, paths):
        by_bundle.setdefault(targets.bundle or file.parent, []).append(file)
    reports = [
        _run_tests(attrs.evolve(targets, bundle=folder), files, strict_undefined=strict_undefined)
        for folder, files in by_bundle.items()
    ]
    return PolicyTestReport(
        tuple(result for each in reports for result in each.results),
        tuple(expression for each in reports for expression in each.expressions),
        tuple(rule for each in reports for rule in each.rules),
        tuple(failure for each in reports for failure in each.failures),
    )


def _run_tests(targets: CommandTargets, files: Sequence[Path], *, strict_undefined: bool) -> PolicyTestReport:
    bundle = load(targets)
    rules = CoveredRules.of(bundle)
    results: list[PolicyTestResult] = []
    counts: list[tuple[PolicyCount, ...]] = []
    at_work: list[frozenset[BundleRule]] = []
    pools: list[tuple[Snapshot, float]] = []
    for file in files:
        for test in read_policy_tests(file).tests:
            decided = PolicyTestCycle.of(test, bundle)
            pools.append((decided.pool, decided.cycle.now))
            counts.append(policy_counts(bundle, *pools[-1]))
            at_work.append(rules.at_work(decided))
            found = [*mismatches(test, decided)]
            if strict_undefined:
                found += _undefined(test, counts[-1])
            results.append(PolicyTestResult(file, test.name.text, test.name.source, tuple(found)))
    undefined = {} if strict_undefined else undefined_expressions(bundle, pools)
    expressions = expression_coverage(counts, undefined)
    covered = rules.coverage(at_work)
    return PolicyTestReport(
        tuple(results),
        tuple(attrs.evolve(each, source=_in_folder(bundle, each.source)) for each in expressions),
        tuple(attrs.evolve(each, source=_in_folder(bundle, each.source)) for each in covered),
        rules.failures,
    )


def _in_folder(bundle: Bundle, source: Source) -> Source:
    """Return a place with the folder of its bundle before the file."""
    return attrs.evolve(source, file=str(bundle.folder / source.file))


def _undefined(test: PolicyTest, counts: Sequence[PolicyCount]) -> Iterator[Mismatch]:
    for each in counts:
        if each.undefined or each.invalid:
            yield Mismatch(test.name.source, f"undefined or invalid: {each}")
