"""``negotiator fmt``: the YAML files of a bundle in one style."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import click

from negotiator.app.formatting import FormattedFile, format_folder, write_formatted
from negotiator.cli.phrases import number
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable, uses_colour
from negotiator.errors import CommandError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def fmt(folder: Path, targets: CommandTargets, *, check: bool, diff: bool) -> None:
    """Format the files of a folder, or print what would be changed.

    :raises CommandError: a file cannot be written.
    """
    found = format_folder(attrs.evolve(targets, bundle=folder))
    print_problems(found.problems, folder=folder, err=True)
    if diff:
        for each in found.changed:
            for line in _diff(folder, each):
                colour = _COLOURS.get(line[:1])
                click.echo(
                    click.style(printable(line), fg=colour) if colour else printable(line),
                    color=uses_colour(),
                )
    elif not check:
        try:
            write_formatted(found)
        except OSError as error:
            raise CommandError(f"{error.filename}: the file cannot be written: {error.strerror}") from None
    verb = "would be changed" if check or diff else "changed"
    if not diff:
        for each in found.changed:
            click.echo(f"{verb}: {printable(str(folder / each.name))}")
    unchanged = len(found.files) - len(found.changed)
    counts = [f"{number(len(found.changed), 'file')} {verb}", f"{unchanged} unchanged"]
    if found.problems:
        counts.append(f"{len(found.problems)} left alone")
    click.echo(", ".join(counts), err=True)
    failed = bool(found.problems) or (check and bool(found.changed))
    sys.exit(ExitCode.NOT_DONE if failed else ExitCode.DONE)


def _diff(folder: Path, file: FormattedFile) -> Iterator[str]:
    name = str(folder / file.name)
    lines = difflib.unified_diff(
        file.before.splitlines(), file.after.splitlines(), name, f"{name} (formatted)", lineterm=""
    )
    yield from lines
