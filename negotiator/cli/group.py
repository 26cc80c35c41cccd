"""The group of all commands: the product's own, and those that installed plugins bring."""

from __future__ import annotations

from functools import cached_property

import click

from negotiator.cli.problems import print_problems
from negotiator.hooks.loading import load_plugins
from negotiator.hooks.settings import PluginSettings
from negotiator.records import Severity


class PluginGroup(click.Group):
    """Looks for a command among the plugins only where the product has none of that name."""

    @cached_property
    def _brought(self) -> dict[str, click.Command]:
        manager, problems = load_plugins(PluginSettings())
        print_problems((each for each in problems if each.severity is Severity.ERROR), err=True)
        answers = manager.commands()
        for failure in answers.failures:
            click.echo(f"warning: {failure}; its commands are missing", err=True)
        commands: dict[str, click.Command] = {}
        for stamped in answers.records:
            name = stamped.record.name or ""
            if name in self.commands or name in commands:
                click.echo(f"warning: plugin {stamped.plugin}: there is a command {name!r} already", err=True)
            else:
                commands[name] = stamped.record
        return commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        return sorted({*super().list_commands(ctx), *self._brought})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command by name."""
        return super().get_command(ctx, cmd_name) or self._brought.get(cmd_name)
