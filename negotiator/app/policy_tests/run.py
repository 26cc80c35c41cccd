"""Runs policy tests: one production cycle each, and what of its decisions is not as expected."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.policy_counts import PolicyCount, policy_counts
from negotiator.app.policy_tests.coverage import ExpressionCoverage, coverage
from negotiator.app.policy_tests.file import Expectation, Outcome, PolicyTest, read_policy_tests
from negotiator.app.policy_tests.pool import pool_of
from negotiator.app.targets import load
from negotiator.bundle import Bundle
from negotiator.cycle.jobs import job_ids, schedds
from negotiator.cycle.loop import run_cycle
from negotiator.errors import InvalidCallError, SettingsError
from negotiator.explain.job import JobOutcome, outcome_of, why_not_served
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.records import Cycle
from negotiator.pool import Snapshot
from negotiator.records import Problem, Severity, Source
from negotiator.runtime.state_manager import StateManager

PATTERN: Final = "*_test.yaml"

_NOW: Final = 1_700_000_000.0


@attrs.frozen
class Mismatch:
    """What a test expected at a place of its file, and what the cycle decided."""

    source: Source
    message: str


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
            pool, now = pool_of(test), _NOW if test.now is None else test.now
            counts.append(policy_counts(bundle, pool, now))
            mismatches = [*_mismatches(test, pool, bundle, now)]
            if strict_undefined:
                mismatches += _undefined(test, counts[-1])
            results.append(PolicyTestResult(file, test.name.text, test.name.source, tuple(mismatches)))
    return PolicyTestReport(tuple(results), coverage(counts))


def _undefined(test: PolicyTest, counts: Sequence[PolicyCount]) -> Iterator[Mismatch]:
    for each in counts:
        if each.undefined or each.invalid:
            yield Mismatch(test.name.source, f"undefined or invalid: {each}")


def _mismatches(test: PolicyTest, pool: Snapshot, bundle: Bundle, now: float) -> Iterator[Mismatch]:
    cycle = Cycle(1, now, bundle.digest)
    state, _ = StateManager.begin(bundle, now).cycle_state(pool, now)
    groups = {user: tuple(own) for user, own in (test.groups or {}).items()}
    state = attrs.evolve(state, groups={**state.groups, **groups})
    result = run_cycle(pool, bundle, cycle, state)
    ids, at = job_ids(pool.jobs), schedds(pool.jobs).tolist()
    for expected in test.expect:
        job = expected.job.text
        if job not in ids:
            raise SettingsError([_no_job(expected, ids)], expected.job.source.file)
        row = ids.index(job)
        decision = outcome_of(result, job, at[row])
        if decision is None:
            decision = JobOutcome(reason=why_not_served(pool, bundle, cycle, state, row)[0])
        yield from _compared(expected, decision)
    if test.matches is not None and test.matches != len(result.matches):
        yield Mismatch(test.name.source, f"matches: expected {test.matches}, got {len(result.matches)}")


def _no_job(expected: Expectation, ids: Sequence[str]) -> Problem:
    message = f"the test has no job {expected.job.text}"
    return Problem(Severity.ERROR, expected.job.source, message, f"its jobs: {', '.join(ids) or 'none'}")


def _compared(expected: Expectation, decision: JobOutcome) -> Iterator[Mismatch]:
    reason = decision.reason
    found = {
        "verdict": str(Outcome.MATCHED if reason is None else reason.verdict),
        "slot": decision.slot,
        "queue": decision.queue,
        "code": reason.code if reason else "",
        "rule": reason.provenance.rule if reason else "",
    }
    why = f" ({reason.text})" if reason else ""
    for name, value in found.items():
        wanted = getattr(expected, name)
        if wanted is not None and str(wanted) != value:
            yield _mismatch(expected, f"{name}: expected {wanted}, got {value or 'none'}{why}")
    if expected.text is not None and (reason is None or expected.text not in reason.text):
        yield _mismatch(expected, f"text: expected {expected.text!r} in the reason{why}")
    numbers = reason.numbers if reason else {}
    for name, wanted in expected.numbers.items():
        number = numbers.get(name)
        if not isinstance(number, (int, float)) or not math.isclose(number, wanted):
            yield _mismatch(
                expected,
                f"numbers: expected {name} {wanted:g}, got {'none' if number is None else number}{why}",
            )


def _mismatch(expected: Expectation, message: str) -> Mismatch:
    return Mismatch(expected.job.source, f"job {expected.job.text}: {message}")
