"""Lints all expressions of a bundle; each problem has the file position of the part of the expression with the mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

from negotiator.app.policy_counts import WORDS, expression_counts
from negotiator.bundle import BundleCheck
from negotiator.bundle.expressions import BundleExpression, bundle_expressions
from negotiator.bundle.text import SourceText
from negotiator.classad import Ad, Environment, Table, bind
from negotiator.classad.lint import Finding, LintCode, lint, moved
from negotiator.classad.syntax import Literal, Paren
from negotiator.hooks.ad_kinds import AdKind, tables_by_kind
from negotiator.pool import Snapshot
from negotiator.records import Problem, Severity, Source

_SLACK: Final = 4096
_NO_MATCH: Final = "no job of this pool can be matched"
_DECIDED: Final = frozenset(
    {LintCode.ALWAYS_TRUE_IN_POOL, LintCode.ALWAYS_FALSE_IN_POOL, LintCode.NEVER_TRUE_IN_POOL}
)
"""Findings that are normal for most gates and constraints in most pools."""


def lint_bundle(examination: BundleCheck, pool: Snapshot | None, now: float) -> tuple[Problem, ...]:
    """Lint all expressions of a bundle without errors; with a pool, also evaluate them on its ads.

    Without a pool, only findings that are certain are returned. ``now`` is the time that expressions see, in seconds since
    the epoch.
    """
    if examination.bundle is None:
        return ()
    ads = {} if pool is None else tables_by_kind(pool)
    expressions, failures = bundle_expressions(examination.bundle, ads, now)
    origins = {plugin.name: plugin.origin for plugin in examination.bundle.hooks.plugins}
    problems = [
        Problem(Severity.WARNING, Source(origins.get(failure.plugin, failure.plugin)), str(failure))
        for failure in failures
    ]
    for each in expressions:
        problems += _of_gate(each, ads, examination.files)
        found = list(_findings(each, ads, Environment(now=now)))
        if not any(finding.hint == _NO_MATCH for finding in found):
            problems += _of_constraint(each, ads, examination.files, now)
        for finding in found:
            if pool is not None or finding.severity is Severity.WARNING:
                problems.append(_problem(finding, each, examination.files))
    return tuple(dict.fromkeys(problems))


def _findings(
    expression: BundleExpression, ads: Mapping[AdKind, Table], env: Environment
) -> Iterator[Finding]:
    found = lint(
        bind(expression.tree),
        my=_together(expression.my, ads),
        target=_together(expression.target, ads),
        alone=expression.alone,
        truth_counts=expression.is_condition,
        my_computed=expression.my_computed,
        target_computed=expression.target_computed,
        my_word=_word(expression.my),
        target_word=_word(expression.target),
        text=expression.text,
        env=env,
    )
    for finding in found:
        if finding.code is LintCode.NO_OTHER_AD or _is_plain_constant(finding, expression):
            continue  # the plugin itself reports references to a missing side; a lone constant is intended
        if finding.code not in _DECIDED:
            yield finding
        elif expression.forbids and finding.code is not LintCode.ALWAYS_TRUE_IN_POOL:
            yield attrs.evolve(finding, severity=Severity.WARNING, hint=_NO_MATCH)


def _together(kinds: Iterable[AdKind], ads: Mapping[AdKind, Table]) -> Table | None:
    tables = [ads[kind] for kind in kinds if kind in ads and len(ads[kind])]
    if len(tables) == 1:
        return tables[0]
    together: list[Ad] = [ad for table in tables for ad in table.ads]
    return Table.from_ads(together) if together else None


def _word(kinds: Iterable[AdKind]) -> str:
    return " or ".join(WORDS[kind] for kind in kinds)


def _is_plain_constant(finding: Finding, expression: BundleExpression) -> bool:
    whole = expression.tree
    while isinstance(whole, Paren):
        whole = whole.inner
    return isinstance(whole, Literal) and finding.code in {
        LintCode.ALWAYS_TRUE,
        LintCode.ALWAYS_FALSE,
        LintCode.ALWAYS_UNDEFINED,
        LintCode.ALWAYS_ERROR,
    }


def _of_gate(
    expression: BundleExpression, ads: Mapping[AdKind, Table], files: Mapping[str, SourceText]
) -> Iterator[Problem]:
    """Report that a gate would discard all ads of a kind."""
    for kind, count in expression.discarded.items():
        if count and count == len(ads.get(kind, ())):
            word = WORDS[kind]
            message = f"{expression.rule} discards every {word} of this pool ({count})"
            yield _at(expression.source, 0, files, Problem(Severity.WARNING, _whole(expression), message))


def _of_constraint(
    expression: BundleExpression, ads: Mapping[AdKind, Table], files: Mapping[str, SourceText], now: float
) -> Iterator[Problem]:
    """Report a match expression that is true for no pair of slot and job."""
    if not expression.forbids or not all(ads.get(kind) for kind in (*expression.my, *expression.target)):
        return
    for count in expression_counts(expression, ads, now):
        if count.counted and not count.true:
            sample = f"a sample of {count.counted:,} of " if count.counted < count.total else ""
            message = f"{expression.rule} is true for no pair of slot and job of this pool ({sample}{count.total:,} pairs)"
            problem = Problem(Severity.WARNING, _whole(expression), message, _NO_MATCH)
            yield _at(expression.source, 0, files, problem)


def _problem(finding: Finding, expression: BundleExpression, files: Mapping[str, SourceText]) -> Problem:
    """Return a finding as a problem, at the place of the part in its file."""
    message = f"{expression.rule}: {finding.message} [{finding.code}]"
    problem = Problem(finding.severity, _whole(expression), message, finding.hint)
    start = 0 if finding.span is None else finding.span[0]
    return _at(expression.source, _in_file(start, expression, files), files, problem)


def _whole(expression: BundleExpression) -> Source:
    return expression.source or Source(expression.rule)


def _in_file(start: int, expression: BundleExpression, files: Mapping[str, SourceText]) -> int:
    """Return the offset in the file of a character of an expression, from the expression's beginning; 0 if unknown.

    In the file the expression may have continuation lines, with backslashes at their ends, and quotes and macros that
    are replaced by other characters.
    """
    file = None if expression.source is None else files.get(expression.source.file)
    if file is None or expression.source is None or expression.text is None:
        return 0
    begin = _begin(file, expression.source)
    piece = file.text[begin : begin + 2 * len(expression.text) + _SLACK]
    return moved(start, expression.text, piece.replace("\\\n", " \n")) or 0


def _at(source: Source | None, start: int, files: Mapping[str, SourceText], problem: Problem) -> Problem:
    file = None if source is None else files.get(source.file)
    if file is None or source is None or not source.line:
        return problem
    return file.problem(problem.severity, _begin(file, source) + start, problem.message, problem.hint)


def _begin(file: SourceText, source: Source) -> int:
    return file.starts[source.line - 1] + max(source.column, 1) - 1
