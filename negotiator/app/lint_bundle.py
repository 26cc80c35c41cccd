"""Lint of all expressions of a bundle, as ``negotiator check`` tells it: at the place where each part is written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from negotiator.bundle import BundleCheck
from negotiator.bundle.expressions import BundleExpression, bundle_expressions
from negotiator.bundle.text import SourceText
from negotiator.classad import ClassAd, Environment, Table, bind
from negotiator.classad.lint import Finding, LintCode, lint, moved
from negotiator.classad.syntax import Literal, Paren
from negotiator.hooks.records import AdKind
from negotiator.pool import Snapshot
from negotiator.records import Problem, Severity, Source

_WORDS: Final = {
    AdKind.SCHEDD: "schedd",
    AdKind.SUBMITTER: "submitter",
    AdKind.STARTD: "slot",
    AdKind.JOB: "job",
}
_SLACK: Final = 4096
_DECIDED: Final = frozenset(
    {LintCode.ALWAYS_TRUE_IN_POOL, LintCode.ALWAYS_FALSE_IN_POOL, LintCode.NEVER_TRUE_IN_POOL}
)
"""What most gates and most constraints are for most pools: nothing to speak of."""


def lint_bundle(examination: BundleCheck, pool: Snapshot | None, now: float) -> tuple[Problem, ...]:
    """Look at all expressions of a bundle without errors; with the ads of a pool, also at what they are for these.

    Without a pool only what is certain is told. ``now`` is the time that expressions see, in seconds since the epoch.
    """
    if examination.bundle is None:
        return ()
    ads = {} if pool is None else _tables(pool)
    asked, failures = bundle_expressions(examination.bundle, ads, now)
    origins = {plugin.name: plugin.origin for plugin in examination.bundle.hooks.plugins}
    problems = [
        Problem(Severity.WARNING, Source(origins.get(failure.plugin, failure.plugin)), str(failure))
        for failure in failures
    ]
    for each in asked:
        problems += _of_gate(each, ads, examination.files)
        for finding in _findings(each, ads, Environment(now=now)):
            if pool is not None or finding.severity is Severity.WARNING:
                problems.append(_problem(finding, each, examination.files))
    return tuple(dict.fromkeys(problems))


def _tables(pool: Snapshot) -> dict[AdKind, Table]:
    return {
        AdKind.SCHEDD: pool.schedds,
        AdKind.SUBMITTER: pool.submitters,
        AdKind.STARTD: pool.slots,
        AdKind.JOB: pool.jobs,
    }


def _findings(asked: BundleExpression, ads: Mapping[AdKind, Table], env: Environment) -> Iterator[Finding]:
    found = lint(
        bind(asked.tree),
        my=_together(asked.my, ads),
        target=_together(asked.target, ads),
        alone=asked.alone,
        my_word=_word(asked.my),
        target_word=_word(asked.target),
        text=asked.text,
        env=env,
    )
    for finding in found:
        if finding.code is LintCode.NO_OTHER_AD or _is_plain_constant(finding, asked):
            continue  # those who know what the expression is for tell it; a constant alone is meant
        if finding.code not in _DECIDED:
            yield finding
        elif asked.forbids and finding.code is not LintCode.ALWAYS_TRUE_IN_POOL:
            yield attrs.evolve(finding, severity=Severity.WARNING, hint="no job of this pool can be matched")


def _together(kinds: Iterable[AdKind], ads: Mapping[AdKind, Table]) -> Table | None:
    tables = [ads[kind] for kind in kinds if kind in ads and len(ads[kind])]
    if len(tables) == 1:
        return tables[0]
    together: list[ClassAd] = [ad for table in tables for ad in table.ads]
    return Table.from_ads(together) if together else None


def _word(kinds: Iterable[AdKind]) -> str:
    return " or ".join(_WORDS[kind] for kind in kinds)


def _is_plain_constant(finding: Finding, asked: BundleExpression) -> bool:
    whole = asked.tree
    while isinstance(whole, Paren):
        whole = whole.inner
    return isinstance(whole, Literal) and finding.code in {
        LintCode.ALWAYS_TRUE,
        LintCode.ALWAYS_FALSE,
        LintCode.ALWAYS_UNDEFINED,
        LintCode.ALWAYS_ERROR,
    }


def _of_gate(
    asked: BundleExpression, ads: Mapping[AdKind, Table], files: Mapping[str, SourceText]
) -> Iterator[Problem]:
    """Say that a gate would leave nothing of a kind."""
    for kind, count in asked.discarded.items():
        if count and count == len(ads.get(kind, ())):
            word = _WORDS[kind]
            message = f"{asked.rule} discards every {word} of this pool ({count})"
            yield _at(asked.source, 0, files, Problem(Severity.WARNING, _whole(asked), message))


def _problem(finding: Finding, asked: BundleExpression, files: Mapping[str, SourceText]) -> Problem:
    """Make a problem of a finding, at the place of the part in its file."""
    message = f"{asked.rule}: {finding.message} [{finding.code}]"
    problem = Problem(finding.severity, _whole(asked), message, finding.hint)
    start = 0 if finding.span is None else finding.span[0]
    return _at(asked.source, _in_file(start, asked, files), files, problem)


def _whole(asked: BundleExpression) -> Source:
    return asked.source or Source(asked.rule)


def _in_file(start: int, asked: BundleExpression, files: Mapping[str, SourceText]) -> int:
    """Return how far behind the beginning of an expression a character of it stands in the file; 0 if that can't be told.

    In the file the expression may go on over several lines, with backslashes at their ends; quotes and macros may
    stand for other characters.
    """
    file = None if asked.source is None else files.get(asked.source.file)
    if file is None or asked.source is None or asked.text is None:
        return 0
    begin = _begin(file, asked.source)
    piece = file.text[begin : begin + 2 * len(asked.text) + _SLACK]
    return moved(start, asked.text, piece.replace("\\\n", " \n")) or 0


def _at(source: Source | None, start: int, files: Mapping[str, SourceText], problem: Problem) -> Problem:
    file = None if source is None else files.get(source.file)
    if file is None or source is None or not source.line:
        return problem
    return file.problem(problem.severity, _begin(file, source) + start, problem.message, problem.hint)


def _begin(file: SourceText, source: Source) -> int:
    return file.starts[source.line - 1] + max(source.column, 1) - 1
