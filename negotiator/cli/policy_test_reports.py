"""The report of policy tests for other programs: JSON, JUnit, workflow commands of GitHub, SARIF."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from xml.etree import ElementTree as ET

import attrs

from negotiator import __version__
from negotiator.app.policy_tests import Mismatch, PolicyTestReport
from negotiator.records import Source

_SARIF: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def _json(report: PolicyTestReport) -> str:
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
    expressions = [attrs.asdict(each) for each in report.expressions]
    values = {"tests": tests, "failed": report.failed, "expressions": expressions}
    return json.dumps(values, indent=2) + "\n"


def _junit(report: PolicyTestReport) -> str:
    """Return the tests as test cases, those of a file as a suite."""
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
    for suite in suites.values():
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(sum(len(case) for case in suite)))
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return a text without the characters that XML cannot have."""
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in text)


def _github(report: PolicyTestReport) -> str:
    """Return a workflow command for each mismatch: GitHub shows it at its line."""
    lines = [
        f"::error file={_escaped(one.source.file, ',:')},line={one.source.line or 1},title={_escaped(each.name, ',:')}::{_escaped(one.message)}"
        for each in report.results
        for one in each.mismatches
    ]
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str, further: str = "") -> str:
    return "".join(f"%{ord(each):02X}" if each in "%\r\n" + further else each for each in text)


def _sarif(report: PolicyTestReport) -> str:
    tool = {"driver": {"name": "negotiator", "version": __version__, "rules": [{"id": "policy-test"}]}}
    results = [*_sarif_results(report)]
    return (
        json.dumps(
            {"version": "2.1.0", "$schema": _SARIF, "runs": [{"tool": tool, "results": results}]}, indent=2
        )
        + "\n"
    )


def _sarif_results(report: PolicyTestReport) -> Iterator[Mapping[str, Any]]:
    for each in report.results:
        for one in each.mismatches:
            yield {
                "ruleId": "policy-test",
                "level": "error",
                "message": {"text": f"{each.name}: {one.message}"},
                "locations": [_location(one)],
            }


def _location(mismatch: Mismatch) -> Mapping[str, Any]:
    region = {"startLine": mismatch.source.line or 1, "startColumn": mismatch.source.column or 1}
    return {"physicalLocation": {"artifactLocation": {"uri": mismatch.source.file}, "region": region}}


def _place(source: Source) -> dict[str, Any]:
    return {"file": source.file, "line": source.line, "column": source.column}


#: Returns the text of a report.
FORMATS: Final[Mapping[str, Callable[[PolicyTestReport], str]]] = {
    "json": _json,
    "junit": _junit,
    "github": _github,
    "sarif": _sarif,
}
