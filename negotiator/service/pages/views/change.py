"""*Change the queues*: the text, its problems and differences, and what was done."""

from __future__ import annotations

from typing import Final

import attrs

from negotiator.app.change import PresentFile
from negotiator.hooks.administration import ChangeOutcome
from negotiator.records import Problem, Severity
from negotiator.service.pages.views.differences import DifferenceLine, differences
from negotiator.service.pages.views.elements import Rows, message

_MOST_LINES: Final = 3000
_MOST_PROBLEMS: Final = 200


@attrs.frozen
class ProblemRow:
    """A problem: its place, the line with a mark below its column (empty if unknown), and the remedy."""

    severity: str
    place: str
    text: str
    hint: str
    line: str
    mark: str


@attrs.frozen
class ChangeCheck:
    """The result of a check. ``differs`` is False if the text is the file as it is."""

    errors: int
    problems: Rows
    differs: bool
    lines: Rows
    added: int
    removed: int
    base: str


@attrs.frozen(kw_only=True)
class ChangeView:
    """The page. ``notice`` is why nothing was done; ``form_value`` is empty if nobody is logged in."""

    file: str
    text: str
    form_value: str
    may_apply: bool
    role: str
    check: ChangeCheck | None = None
    notice: str = ""
    note: str = ""
    longest_note: int


@attrs.frozen
class ChangeDone:
    """The page after a change."""

    file: str
    text: str
    digest: str
    rule: str
    recorded: str
    problems: Rows


def change_check(problems: tuple[Problem, ...], present: PresentFile, content: bytes) -> ChangeCheck:
    """Return the result of a check.

    :param problems: of the bundle with the new content.
    :param present: the file that the content would replace.
    """
    after = content.decode(errors="replace")
    lines = differences(present.content.decode(errors="replace"), after)
    return ChangeCheck(
        sum(each.severity is Severity.ERROR for each in problems),
        problem_rows(problems),
        content != present.content,
        Rows.first(lines, len(lines), _MOST_LINES),
        _count(lines, "+"),
        _count(lines, "-"),
        present.digest,
    )


def change_done(file: str, outcome: ChangeOutcome) -> ChangeDone:
    """Return the page after a change."""
    if outcome.recorded:
        recorded = "in the audit log"
    elif outcome.error is None:
        recorded = "by the running negotiator, before its next cycle"
    else:
        recorded = message(str(outcome.error))
    return ChangeDone(
        file,
        message(outcome.text),
        outcome.digest,
        message(outcome.rule),
        recorded,
        problem_rows(outcome.problems),
    )


def problem_rows(problems: tuple[Problem, ...]) -> Rows:
    """Return rows of problems, errors first."""
    ordered = sorted(problems, key=lambda each: list(Severity).index(each.severity))
    return Rows.first(map(_problem, ordered), len(ordered), _MOST_PROBLEMS)


def _problem(problem: Problem) -> ProblemRow:
    source, line = problem.source, message(problem.excerpt)
    return ProblemRow(
        str(problem.severity),
        message(str(source)),
        message(problem.message),
        message(problem.hint),
        line,
        f"{' ' * (source.column - 1)}^" if line and source.column else "",
    )


def _count(lines: list[DifferenceLine], sign: str) -> int:
    return sum(each.sign == sign for each in lines)
