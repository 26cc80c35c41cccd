"""Prints the steps of an evaluation: an indented tree, each line with an expression and its value."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click
from rich.console import Console
from rich.text import Text

from negotiator.classad import ERROR, UNDEFINED
from negotiator.classad.context import excerpt_value
from negotiator.classad.scalar import Trace, TraceStep
from negotiator.classad.syntax import excerpt
from negotiator.cli.render import printable, uses_colour
from negotiator.cli.table_layout import cell_len, set_cell_size
from negotiator.pool.secrets import is_safe_to_show, redact

#: The longest text, in characters, if the output is not a terminal.
LONGEST = 200
#: Columns that an expression needs beside its value; with fewer, the value is printed on a second line.
LEAST = 24
#: The deepest indentation; the depth of deeper steps is printed as a number.
DEEPEST = 12

_SEARCHED = 2000
_STYLES: dict[object, str] = {True: "green", False: "red", ERROR: "bold red", UNDEFINED: "yellow"}


def print_trace(trace: Trace) -> None:
    """Print the steps of an evaluation; on a terminal in its width, with colours."""
    console = Console(highlight=False, no_color=None if uses_colour() else True)
    for line in trace_lines(trace, console.width if console.is_terminal else None):
        if console.is_terminal:
            console.print(line, soft_wrap=True)
        else:
            click.echo(line.plain)


def trace_lines(trace: Trace, width: int | None) -> Iterator[Text]:
    """Yield the lines of a trace, none wider than ``width`` columns (at least 40; None for no limit)."""
    pending = [(trace.root, 0)]
    while pending:
        step, depth = pending.pop()
        yield from _lines(step, depth, width and max(width, 40))
        pending.extend((below, depth + 1) for below in reversed(step.steps))
    if not trace.complete:
        yield Text("More steps were left out.")


def _lines(step: TraceStep, depth: int, width: int | None) -> Iterator[Text]:
    """Yield the lines of one step: one, or two if the value does not fit on the first."""
    indent = "  " * depth if depth <= DEEPEST else f"{'  ' * DEEPEST}[{depth}] "
    expression = _expression(step)
    outcome = _outcome(step, LONGEST if width is None else width // 2)
    if width is None:
        yield Text.assemble(indent, _cut(expression, LONGEST), outcome)
        return
    columns = width - len(indent) - outcome.cell_len
    if columns >= min(LEAST, cell_len(expression)):
        yield Text.assemble(indent, _cut(expression, columns), outcome)
        return
    yield Text.assemble(indent, _cut(expression, width - len(indent)))
    value = _outcome(step, width).plain.strip()
    for line in textwrap.wrap(value, width - len(indent) - 4, subsequent_indent="   "):
        yield Text.assemble(indent, "    ", (line, _style(step)))


def _outcome(step: TraceStep, most: int) -> Text:
    """Return the value of a step, and its origin."""
    if step.value is None:
        return Text.assemble("  ", ("(not evaluated)", "dim"))
    origin = "; ".join(filter(None, (step.location, step.note)))
    value = printable(excerpt_value(step.value, most))
    return Text.assemble(" => ", (value, _style(step)), (f"  ({printable(origin)})" if origin else "", "dim"))


def _style(step: TraceStep) -> str:
    value = step.value
    return _STYLES.get(value, "") if value is None or isinstance(value, bool | type(ERROR)) else ""


def _expression(step: TraceStep) -> str:
    """Return the expression without strings if it mentions a secret, such as a claim id, even in a string that was cut."""
    text = excerpt(step.expr, _SEARCHED)
    if not is_safe_to_show(text):
        text = redact(f'{text}"').removesuffix('"')
    return printable(text)


def _cut(text: str, width: int) -> str:
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 3).rstrip()}..."
