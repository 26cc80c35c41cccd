"""Runs policy tests on an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.executors import BatchWorkers
from negotiator.app.policy_tests.file import PolicyTest, read_policy_tests
from negotiator.app.policy_tests.report import CollectedTests, PolicyTestReport
from negotiator.app.policy_tests.task import PolicyTestResults, PolicyTestTask
from negotiator.errors import InvalidCallError
from negotiator.hooks.command_targets import CommandTargets

PATTERN: Final = "*_test.yaml"

#: Tests of a file that are run in one call.
_TOGETHER: Final = 16


@attrs.frozen
class PolicyTestProgress:
    """How many tests are finished, and how many of these failed."""

    done: int
    total: int
    failed: int


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


@attrs.frozen
class _Call:
    """Some tests of a file, and the folder of their bundle, None for the built-in one."""

    folder: Path | None
    file: Path
    tests: tuple[PolicyTest, ...]


def run_tests(
    targets: CommandTargets,
    paths: Sequence[Path],
    workers: BatchWorkers,
    watch: Callable[[PolicyTestProgress], None] = lambda _: None,
    *,
    strict_undefined: bool = False,
) -> PolicyTestReport:
    """Run the tests of one or several bundles; without a bundle, each file is a test of the one in its folder.

    :param paths: files and folders of tests; by default those of the bundle.
    :param workers: where the tests are run.
    :param watch: called with the progress.
    :param strict_undefined: a test fails if an expression of the bundle is undefined for one of its ads or pairs; none then has to be seen so.
    :raises BundleError: a bundle has errors.
    :raises SettingsError: a file of tests has errors.
    :raises InvalidCallError: there are no tests.
    :raises CommandError: a worker ended.
    """
    calls = _calls(targets, paths)
    total = sum(len(each.tests) for each in calls)
    collected: dict[Path | None, CollectedTests] = {}

    def begun() -> Iterator[Future[PolicyTestResults]]:
        for folder, those in groupby(calls, key=lambda each: each.folder):
            choice = BundleChoice.of_folder(attrs.evolve(targets, bundle=folder))
            collected[folder] = CollectedTests.of(choice.bundle())
            task = PolicyTestTask(choice, strict_undefined)
            sent = task.portable() if workers.elsewhere else task
            for each in those:
                yield workers.executor.submit(sent, each.file, each.tests)

    done = failed = 0
    watch(PolicyTestProgress(done, total, failed))
    with closing(workers.results(begun())) as answers:
        for call, answer in zip(calls, answers, strict=True):
            collected[call.folder].add(answer)
            done += len(answer.results)
            failed += sum(not each.passed for each in answer.results)
            watch(PolicyTestProgress(done, total, failed))
    reports = [each.report() for each in collected.values()]
    return PolicyTestReport(
        tuple(result for each in reports for result in each.results),
        tuple(expression for each in reports for expression in each.expressions),
        tuple(rule for each in reports for rule in each.rules),
        tuple(failure for each in reports for failure in each.failures),
    )


def _calls(targets: CommandTargets, paths: Sequence[Path]) -> tuple[_Call, ...]:
    """Return the tests of each bundle, some at a time, in the order of the files."""
    by_bundle: dict[Path | None, list[Path]] = {}
    for file in policy_test_files(targets.bundle, paths):
        by_bundle.setdefault(targets.bundle or file.parent, []).append(file)
    return tuple(
        _Call(folder, file, tests[first : first + _TOGETHER])
        for folder, files in by_bundle.items()
        for file, tests in ((file, read_policy_tests(file).tests) for file in files)
        for first in range(0, max(len(tests), 1), _TOGETHER)
    )
