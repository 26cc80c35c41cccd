"""``negotiator test``: the tests of policies, once or whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from negotiator.app.executors import BatchWorkers, workers
from negotiator.app.policy_tests import PolicyTestReport, run_tests
from negotiator.cli.batch_progress import PolicyTestLine
from negotiator.cli.errors import print_error, print_note
from negotiator.cli.phrases import number
from negotiator.cli.policy_test_reports import FORMATS
from negotiator.cli.render import print_table, printable
from negotiator.engines.choice import EngineChoice
from negotiator.errors import NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets

_PAUSE: Final = 0.5  # seconds between two looks at the files


def test(
    paths: tuple[Path, ...],
    targets: CommandTargets,
    form: str,
    engine: EngineChoice,
    *,
    strict_undefined: bool,
    fail_uncovered: bool,
    watch: bool,
) -> None:
    """Run the tests of a policy bundle."""

    def tested(chosen: BatchWorkers) -> PolicyTestReport:
        print_note(chosen.note)
        with PolicyTestLine(enabled=sys.stderr.isatty()) as line:
            return run_tests(targets, paths, chosen, line.show, strict_undefined=strict_undefined)

    if not watch:
        with workers(engine) as chosen:
            report = tested(chosen)
        _print(report, form, fail_uncovered=fail_uncovered)
        is_wrong = report.failed or (fail_uncovered and (report.uncovered or report.failures))
        sys.exit(ExitCode.NOT_DONE if is_wrong else ExitCode.DONE)
    beside = [path if path.is_dir() else path.parent for path in paths] if targets.bundle is None else paths
    folders = [path for path in (targets.bundle, *targets.plugins_dirs, *beside) if path is not None]
    for _ in _changes(folders):
        click.clear()
        try:
            with workers(engine) as chosen:
                report = tested(chosen)
            _print(report, form, fail_uncovered=fail_uncovered)
        except NegotiatorError as error:
            print_error(error)


def _changes(paths: Sequence[Path]) -> Iterator[None]:
    """Yield at once, and whenever a file is new, gone or written."""
    seen: object = None
    while True:
        files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
        found = sorted((str(file), file.stat().st_mtime_ns) for file in files if file.is_file())
        if found != seen:
            seen = found
            yield
        time.sleep(_PAUSE)


def _print(report: PolicyTestReport, form: str, *, fail_uncovered: bool) -> None:
    if form == "table":
        _print_table(report)
    else:
        click.echo(FORMATS[form](report, fail_uncovered=fail_uncovered), nl=False)


def _print_table(report: PolicyTestReport) -> None:
    for each in report.results:
        if each.passed:
            continue
        click.echo(f"Failed: {printable(each.name)}")
        for mismatch in each.mismatches:
            click.echo(f"  {printable(str(mismatch.source))}: {printable(mismatch.message)}")
        click.echo()
    unseen = [
        (
            printable(each.plugin),
            printable(each.rule),
            printable(str(each.source)),
            printable(", ".join(each.missing)),
        )
        for each in report.uncovered
    ]
    print_table("Not seen by the tests", ("PLUGIN", "RULE", "WHERE", "NEVER SEEN"), unseen)
    for failure in report.failures:
        click.echo(f"The rules of a plugin are not known: {printable(str(failure))}")
    passed = len(report.results) - report.failed
    click.echo(f"{number(passed, 'test')} passed, {report.failed} failed{_seen(report)}")


def _seen(report: PolicyTestReport) -> str:
    total = report.rules_to_cover
    return f"; {total - len(report.uncovered)} of {number(total, 'rule')} covered" if total else ""
