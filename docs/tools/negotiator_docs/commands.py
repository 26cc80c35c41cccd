"""The reference of all commands, from the program itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs
import click

from negotiator.cli import main
from negotiator.cli.lazy import LazyCommand
from negotiator_docs.markdown import GENERATED, code, table, text

_HEAD = """# Commands

Every command with its options, as `negotiator COMMAND --help` prints them. Options that a
[variable of the environment](program.md#variables-of-the-environment) sets have its name in brackets. Exit codes:
[a table for all commands](program.md#exit-codes).
"""


@attrs.frozen
class CommandPath:
    """One command: its words (``audit who``), the command with its parameters, and a context for its help."""

    words: str
    command: click.Command
    context: click.Context


def all_commands() -> Iterator[CommandPath]:
    """Yield every command and subcommand of the program and of the plugins that come along, by name."""
    root = main.make_context("negotiator", [], resilient_parsing=True)
    yield from _below(main, root, "")


def _below(group: click.Group, context: click.Context, prefix: str) -> Iterator[CommandPath]:
    for name in sorted(group.list_commands(context)):
        found = group.get_command(context, name)
        if found is None or found.hidden:
            continue
        command = found.load() if isinstance(found, LazyCommand) else found
        words = f"{prefix}{name}"
        # Wide enough that click does not wrap the texts of options.
        inner = click.Context(
            command, parent=context, info_name=name, max_content_width=10_000, **command.context_settings
        )
        inner.terminal_width = 10_000
        yield CommandPath(words, command, inner)
        if isinstance(command, click.Group):
            yield from _below(command, inner, f"{words} ")


def commands_page() -> str:
    """Return the page."""
    return "\n".join([GENERATED + _HEAD, *map(_section, all_commands())])


def _section(path: CommandPath) -> str:
    level = "#" * (2 + path.words.count(" "))
    pieces = " ".join(path.command.collect_usage_pieces(path.context))
    lines = [f"{level} negotiator {path.words}\n", f"```text\nnegotiator {path.words} {pieces}\n```\n"]
    lines += map(_paragraph, _paragraphs(path.command.help or ""))
    options = [_option(record) for record in _records(path)]
    if options:
        lines.append(table(["option", ""], options))
    return "\n".join(lines)


def _records(path: CommandPath) -> Iterator[tuple[str, str]]:
    for parameter in path.command.get_params(path.context):
        record = parameter.get_help_record(path.context)
        if record is not None and "--help" not in parameter.opts:
            yield record


def _option(record: tuple[str, str]) -> tuple[str, str]:
    names, shown = record
    return code(names), text(shown)


def _paragraphs(shown: str) -> list[str]:
    """Return the paragraphs of a help text; those that click does not wrap begin with a backspace."""
    return [
        each.strip("\n") for each in re.split(r"\n\s*\n", re.sub(r"\f.*", "", shown, flags=re.DOTALL)) if each
    ]


def _paragraph(written: str) -> str:
    lines = [line.strip() for line in written.splitlines()]
    if lines[0] != "\b":
        return text(" ".join(lines).strip()) + "\n"
    indents = [len(line) - len(line.lstrip()) for line in written.splitlines()[1:] if line.strip()]
    least = min(indents, default=0)
    kept = [line[least:].rstrip() for line in written.rstrip().splitlines()[1:]]
    return "```text\n" + "\n".join(kept) + "\n```\n"
