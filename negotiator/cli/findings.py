"""Prints lint findings: for people with the part underlined in its expression, and as JSON."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

import attrs
import click

from negotiator.classad import unparse
from negotiator.classad.lint import Finding
from negotiator.classad.syntax import shorten
from negotiator.cli.eval import UnparsableExpressionError
from negotiator.cli.problems import problem_json
from negotiator.cli.render import printable
from negotiator.cli.table_layout import cell_len
from negotiator.records import Problem, Severity

NARROWEST, WIDEST = 40, 100

_COLOURS = {Severity.WARNING: "yellow", Severity.NOTICE: "cyan"}


@attrs.frozen
class Linted:
    """One expression and its findings, or the problem if it does not parse."""

    text: str
    found: tuple[Finding, ...] = ()
    problem: Problem | None = None

    @property
    def is_bad(self) -> bool:
        """True if it does not parse or has a warning."""
        return self.problem is not None or any(each.severity is Severity.WARNING for each in self.found)

    def plain(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "expression": self.text,
            "problem": None if self.problem is None else problem_json(self.problem),
            "findings": [_plain(finding) for finding in self.found],
        }


def _plain(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain data; ``start`` and ``end`` count characters from 0, null if unknown."""
    start, end = finding.span or (None, None)
    return {
        "code": str(finding.code),
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        "part": unparse(finding.expr).strip(),
        "start": start,
        "end": end,
    }


def print_findings(linted: Sequence[Linted]) -> None:
    """Print findings for people, at most 100 columns wide, with a line of counts."""
    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST))
    for each in linted:
        if len(linted) > 1 and (each.found or each.problem):
            click.secho(printable(shorten(" ".join(each.text.split()), width)), bold=True)
        if each.problem is not None:
            UnparsableExpressionError(each.problem).show()
        for finding in each.found:
            click.echo("\n".join(_lines(finding, each.text, width)))
    severities = [finding.severity for each in linted for finding in each.found]
    counts = [(severities.count(kind), kind) for kind in (Severity.WARNING, Severity.NOTICE)]
    if severities:
        click.echo(", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for count, kind in counts))
    elif not any(each.problem for each in linted):
        click.echo("no findings")


def _lines(finding: Finding, text: str, width: int) -> Iterator[str]:
    head = f"{finding.severity}[{finding.code}]:"
    lines = wrap(
        printable(f"{head} {finding.message}"), width, subsequent_indent="  ", break_on_hyphens=False
    )
    yield click.style(head, fg=_COLOURS[finding.severity], bold=True) + lines[0].removeprefix(head)
    yield from lines[1:]
    if finding.span is not None:
        yield from _underlined(text, *finding.span, width - 4)
    if finding.hint:
        yield from wrap(
            printable(f"hint: {finding.hint}"),
            width,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )


def _underlined(text: str, start: int, end: int, width: int) -> Iterator[str]:
    """Yield the line in which a part begins, cut around its beginning, and a line that underlines the part."""
    first = text.rfind("\n", 0, start) + 1
    line = text[first:].partition("\n")[0]
    start, end = start - first, min(end - first, len(line))
    left = max(0, min(start - width // 4, len(line) - width))
    shown = line[left : left + width]
    before, part = shown[: start - left], shown[start - left : end - left]
    yield f"    {_flat(shown)}".rstrip()
    yield f"    {' ' * cell_len(_flat(before))}{click.style('^' * max(cell_len(_flat(part)), 1), fg='green', bold=True)}"


def _flat(text: str) -> str:
    return printable(text.replace("\t", " "))
