"""``negotiator test``: the tests of policies, once or whenever a file changes.

Their report is for people, or for other programs: JSON, JUnit, workflow commands of GitHub, SARIF.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol
from xml.etree import ElementTree as ET

import attrs
import click

from negotiator import __version__
from negotiator.app.executors import BatchWorkers, workers
from negotiator.app.policy_tests import PolicyTestReport, UncoveredRule, run_tests
from negotiator.cli.batch import PolicyTestLine
from negotiator.cli.errors import print_error, print_note
from negotiator.cli.phrases import number
from negotiator.cli.render import print_table, printable
from negotiator.engines.choice import EngineChoice
from negotiator.errors import NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import Source

_SARIF: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_COVERAGE: Final = "coverage"
_PAUSE: Final = 0.5  # seconds between two looks at the files


def _json(report: PolicyTestReport, *, fail_uncovered: bool) -> str:
    del fail_uncovered  # the exit code shows it
    tests = [
        {
            "file": str(each.file),
            "line": each.source.line,
            "name": each.name,
            "passed": each.passed,
            "mismatches": [{**_place(one.source), "message": one.message} for one in each.mismatches],
        }
        for each in report.results
    ]
    covered = {"expressions": report.expressions, "rules": report.rules, "uncovered": report.uncovered}
    values = {"tests": tests, "failed": report.failed}
    values |= {name: [_record(each) for each in records] for name, records in covered.items()}
    values["plugin_failures"] = [str(each) for each in report.failures]
    return json.dumps(values, indent=2) + "\n"


def _record(record: Any) -> dict[str, Any]:
    """Return a record of coverage, with the place as file, line and column."""
    values = attrs.asdict(record, filter=lambda field, _: field.name != "source")
    return {**values, **_place(record.source)}


def _junit(report: PolicyTestReport, *, fail_uncovered: bool) -> str:
    """Return the tests as test cases, those of a file as a suite; of the suite ``coverage`` each rule is one, skipped if it is not covered."""
    top = ET.Element("testsuites", name="negotiator test")
    suites: dict[str, ET.Element] = {}
    for each in report.results:
        name = str(each.file)
        if name not in suites:
            suites[name] = ET.SubElement(top, "testsuite", name=name)
        case = ET.SubElement(suites[name], "testcase", classname=name, name=each.name)
        if not each.passed:
            messages = [f"{one.source}: {one.message}" for one in each.mismatches]
            ET.SubElement(case, "failure", message=_xml(messages[0])).text = _xml("\n".join(messages))
    if report.uncovered:
        suites[_COVERAGE] = ET.SubElement(top, "testsuite", name=_COVERAGE)
    for rule in report.uncovered:
        case = ET.SubElement(
            suites[_COVERAGE], "testcase", classname=_COVERAGE, name=_xml(f"{rule.plugin}: {rule.rule}")
        )
        ET.SubElement(case, "failure" if fail_uncovered else "skipped", message=_xml(_uncovered_text(rule)))
    for suite in suites.values():
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("errors", "0")
        suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return a text without the characters that XML cannot have."""
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)


def _github(report: PolicyTestReport, *, fail_uncovered: bool) -> str:
    """Return a workflow command for each mismatch and each rule that is not covered: GitHub shows it at its line."""
    lines = [
        _command("error", one.source, each.name, one.message)
        for each in report.results
        for one in each.mismatches
    ]
    level = "error" if fail_uncovered else "notice"
    lines += [_command(level, each.source, each.rule, _uncovered_text(each)) for each in report.uncovered]
    return "".join(lines)


def _command(level: str, source: Source, title: str, message: str) -> str:
    place = f"file={_escaped(source.file, ',:')},line={source.line or 1}"
    return f"::{level} {place},title={_escaped(title, ',:')}::{_escaped(message)}\n"


def _uncovered_text(rule: UncoveredRule) -> str:
    return f"no test has seen this rule {', '.join(rule.missing)}"


def _escaped(text: str, further: str = "") -> str:
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + further else each for each in text)


def _sarif(report: PolicyTestReport, *, fail_uncovered: bool) -> str:
    rules = [{"id": "policy-test"}, {"id": "policy-coverage"}]
    tool = {"driver": {"name": "negotiator", "version": __version__, "rules": rules}}
    results = [*_sarif_results(report, "error" if fail_uncovered else "note")]
    return (
        json.dumps(
            {"version": "2.1.0", "$schema": _SARIF, "runs": [{"tool": tool, "results": results}]}, indent=2
        )
        + "\n"
    )


def _sarif_results(report: PolicyTestReport, level: str) -> Iterator[Mapping[str, Any]]:
    for each in report.results:
        for one in each.mismatches:
            yield _sarif_result("policy-test", "error", f"{each.name}: {one.message}", one.source)
    for rule in report.uncovered:
        text = f"{rule.rule}: {_uncovered_text(rule)}"
        yield _sarif_result("policy-coverage", level, text, rule.source)


def _sarif_result(rule: str, level: str, text: str, source: Source) -> Mapping[str, Any]:
    region = {"startLine": source.line or 1, "startColumn": source.column or 1}
    place = {"physicalLocation": {"artifactLocation": {"uri": source.file}, "region": region}}
    return {"ruleId": rule, "level": level, "message": {"text": text}, "locations": [place]}


def _place(source: Source) -> dict[str, Any]:
    return {"file": source.file, "line": source.line, "column": source.column}


class ReportFormat(Protocol):
    """A form of the report for other programs."""

    def __call__(self, report: PolicyTestReport, *, fail_uncovered: bool) -> str:
        """Return the text; with ``fail_uncovered`` a rule that is not covered is an error."""
        ...


FORMATS: Final[Mapping[str, ReportFormat]] = {
    "json": _json,
    "junit": _junit,
    "github": _github,
    "sarif": _sarif,
}


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
