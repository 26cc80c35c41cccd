"""The report of policy tests for other programs: JSON, JUnit, workflow commands of GitHub, SARIF."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol
from xml.etree import ElementTree as ET

import attrs

from negotiator import __version__
from negotiator.app.policy_tests import PolicyTestReport, UncoveredRule
from negotiator.records import Source

_SARIF: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_COVERAGE: Final = "coverage"


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
