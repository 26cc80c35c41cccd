"""Prints problems: as text with a caret below the place, as JSON, and as commands of a GitHub workflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from negotiator.cli.messages import message_width, wrapped_message
from negotiator.cli.phrases import number
from negotiator.cli.render import printable
from negotiator.cli.table_layout import cell_len
from negotiator.records import Problem, Severity

#: Problems of ads that are printed before an answer: each takes up to four lines.
_ON_TERMINAL = 1
MAX_WIDTH = 110  # of an excerpt; of a longer line, the part around the caret is shown
_INDENT, _NARROWEST = 2, 20  # columns: of an excerpt, and its least width

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTICE: "cyan"}


def print_problems(problems: Iterable[Problem], *, folder: Path | None = None, err: bool = False) -> None:
    """Print problems as text: place, message, the line with a caret, hint.

    The files of the problems are relative to ``folder``. Colours are used on terminals only.
    """
    width = message_width(err=err)
    for problem in problems:
        click.echo(_for_people(problem, folder, width), err=err)


def print_problems_of_ads(problems: Sequence[Problem], *, full: bool) -> int:
    """Print the problems of ads to standard error; without ``full`` on a terminal the first one, and the number of the others.

    :return: the lines that they take of a terminal.
    """
    width = message_width(err=True)
    shown = problems if full or width is None else problems[:_ON_TERMINAL]
    lines = [line for each in shown for line in _for_people(each, None, width).split("\n")]
    if len(problems) > len(shown):
        more = number(len(problems) - len(shown), "more problem")
        lines.append(f"and {more} of ads (--full prints all)")
    for line in lines:
        click.echo(line, err=True)
    return 0 if width is None else len(lines)


def problem_json(problem: Problem, folder: Path | None = None) -> dict[str, Any]:
    """Return a problem as plain data; lines and columns count from 1, and are 0 if unknown."""
    return {
        "severity": str(problem.severity),
        "file": located(problem, folder),
        "line": problem.source.line,
        "column": problem.source.column,
        "message": problem.message,
        "hint": problem.hint,
        "excerpt": problem.excerpt,
    }


def github_command(problem: Problem, folder: Path | None = None) -> str:
    """Return a problem as a workflow command, which GitHub shows beside the line.

    Source: GitHub's documentation, "Workflow commands for GitHub Actions"; the escapes are those of GitHub's toolkit
    (``@actions/core``, ``command.ts``).
    """
    properties = [f"file={_property(located(problem, folder))}"]
    if problem.source.line:
        properties.append(f"line={problem.source.line}")
    if problem.source.column:
        properties.append(f"col={problem.source.column}")
    message = f"{problem.message} (hint: {problem.hint})" if problem.hint else problem.message
    return f"::{problem.severity} {','.join(properties)}::{_data(message)}"


def summary(problems: Iterable[Problem]) -> str:
    """``2 errors, 1 warning, 0 notices``."""
    counts = Counter(problem.severity for problem in problems)
    return ", ".join(f"{counts[each]} {each}{'' if counts[each] == 1 else 's'}" for each in Severity)


def located(problem: Problem, folder: Path | None) -> str:
    """Return the file of a problem, relative to the working directory if it exists there."""
    file = problem.source.file
    if folder is None or "\0" in file or not (folder / file).exists():
        return file
    return str(folder / file)


def _for_people(problem: Problem, folder: Path | None, width: int | None) -> str:
    source, severity = problem.source, problem.severity
    place = ":".join(
        [located(problem, folder), *(str(number) for number in (source.line, source.column) if number)]
    )
    kind = click.style(f"{severity}:", fg=_COLOURS[severity], bold=True)
    head = f"{click.style(printable(place), bold=True)}: {kind} {printable(problem.message)}"
    lines = [wrapped_message(head, width)]
    if problem.excerpt.strip():
        room = MAX_WIDTH if width is None else max(min(MAX_WIDTH, width - _INDENT), _NARROWEST)
        lines += _excerpt(problem.excerpt, source.column, room)
    if problem.hint:
        lines.append(wrapped_message(f"  hint: {printable(problem.hint)}", width))
    return "\n".join(lines)


def _excerpt(line: str, column: int, room: int) -> Iterable[str]:
    """Yield the line, or the part of it around the column that has room, and a caret below the column."""
    start = max(0, column - 1 - room * 2 // 3) if len(line) > room else 0
    part = line[start : start + room]
    yield f"  {_flat(part)}".rstrip()
    if start < column <= len(line) + 1:
        before = cell_len(_flat(part[: column - 1 - start]))
        yield f"  {' ' * before}{click.style('^', fg='green', bold=True)}"


def _flat(text: str) -> str:
    return printable(text.replace("\t", " "))


def _data(text: str) -> str:
    return _printable_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))
