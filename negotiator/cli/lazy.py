"""Commands that are imported when they are run or completed: the list of all commands needs their names and help only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from negotiator.cli.help_formatter import wrap_help


class LazyCommand(click.Command):
    """A command with its name and its line in the list of commands; ``load`` returns the command itself."""

    def __init__(self, name: str, short_help: str, load: Callable[[], click.Command]) -> None:
        super().__init__(name, short_help=short_help)
        self.load = load

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the command itself: click goes on with the command of the context."""
        command = self.load()
        wrap_help(command)
        return command.make_context(info_name, args, parent, **extra)
