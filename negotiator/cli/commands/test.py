"""``negotiator test``: the tests of policies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli import batch_options, options

FORMATS = ("table", "json", "junit", "github", "sarif")


@click.command(short_help="Run the tests of policies.")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@options.targets("bundle", "plugins_dirs", "disable")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="What to print."
)
@batch_options.engine("tests")
@click.option(
    "--strict-undefined",
    is_flag=True,
    help="A test fails if an expression of the bundle is undefined for one of its ads or pairs.",
)
@click.option(
    "--fail-uncovered",
    is_flag=True,
    help="Exit code 1 also if the tests have not seen each rule at work, and each expression with each value.",
)
@click.option(
    "--watch", is_flag=True, help="Run them again whenever a file of the bundle or of the tests changes."
)
def test(**given: Any) -> None:
    """Run the tests of a policy bundle: files of ads, and what a cycle has to decide about each job, with its reason.

    PATHs are files of tests, or folders with files called *_test.yaml; by default the folder of the bundle. Without --bundle, each file
    tests the bundle in its folder. Each test is one cycle as the
    program runs it, over the pool in the test, at the time in the test.

    The table has each test that failed, with file and line, and the rules of the bundle that no test has seen at work, or not with each
    value of their expression: true, false, and undefined where it can be.

    \b
    Exit codes:
      0  all tests passed
      1  a test failed, or the bundle has errors; with --fail-uncovered, a rule is not covered
      2  invalid command line, there are no tests, or a file of tests has errors

    \b
    Examples:
      negotiator test --bundle policies/minimum-machine
      negotiator test --bundle policies/site tests/policies --format junit > report.xml
      negotiator test --bundle policies/site --watch
      negotiator test policies --fail-uncovered --engine processes:4
    """
    from negotiator.cli import policy_tests as implementation

    implementation.test(**given)
