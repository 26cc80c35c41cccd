"""``negotiator test``: the tests of policies, once or whenever a file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from negotiator.app.policy_tests import PolicyTestReport, run_tests
from negotiator.cli.errors import print_error
from negotiator.cli.phrases import number
from negotiator.cli.policy_test_reports import FORMATS
from negotiator.cli.render import print_table, printable
from negotiator.errors import NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets

_PAUSE: Final = 0.5  # seconds between two looks at the files


def test(
    paths: tuple[Path, ...], targets: CommandTargets, form: str, *, strict_undefined: bool, watch: bool
) -> None:
    """Run the tests of a policy bundle."""
    if not watch:
        report = run_tests(targets, paths, strict_undefined=strict_undefined)
        _print(report, form)
        sys.exit(ExitCode.NOT_DONE if report.failed else ExitCode.DONE)
    folders = [path for path in (targets.bundle, *targets.plugins_dirs, *paths) if path is not None]
    for _ in _changes(folders):
        click.clear()
        try:
            _print(run_tests(targets, paths, strict_undefined=strict_undefined), form)
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


def _print(report: PolicyTestReport, form: str) -> None:
    if form == "table":
        _print_table(report)
    else:
        click.echo(FORMATS[form](report), nl=False)


def _print_table(report: PolicyTestReport) -> None:
    rows = [
        (each.name if place == 0 else "", printable(str(mismatch.source)), printable(mismatch.message))
        for each in report.results
        for place, mismatch in enumerate(each.mismatches)
    ]
    print_table("Failed", ("TEST", "WHERE", "MISMATCH"), rows)
    unseen = [
        (printable(each.rule), str(each.true), str(each.false), str(each.undefined), str(each.invalid))
        for each in report.expressions
        if not each.is_covered
    ]
    title = "Expressions that the tests have not seen both true and false"
    print_table(title, ("EXPRESSION", "TRUE", "FALSE", "UNDEFINED", "ERROR"), unseen, right=(1, 2, 3, 4))
    passed = len(report.results) - report.failed
    click.echo(f"{number(passed, 'test')} passed, {report.failed} failed{_seen(report)}")


def _seen(report: PolicyTestReport) -> str:
    if not report.expressions:
        return ""
    covered = sum(each.is_covered for each in report.expressions)
    return f"; {covered} of {number(len(report.expressions), 'expression')} seen true and false"
