"""The group of all commands: the program's own, and those of installed plugins."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import click

from negotiator.cli.bundled import PROGRAMS, bundled_commands
from negotiator.cli.help_formatter import HelpContext
from negotiator.cli.help_groups import MOVED, in_groups
from negotiator.exit_codes import ExitCode
from negotiator.hooks.interrupts import recording_interrupts
from negotiator.hooks.plugin_output import plugin_output_to_stderr

_MARGINS = 6  # columns: the indentation, the gap, and what click keeps free


class PluginGroup(click.Group):
    """The program's commands; commands of plugins are looked up only if the program has none of that name."""

    context_class = HelpContext

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program; the output of plugins in hooks is redirected to standard error."""
        with recording_interrupts(), plugin_output_to_stderr():
            return super().main(*args, **kwargs)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the options of the program; for its help, plugins are loaded, which Ctrl-C may interrupt."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and turn the exceptions that it raises into a message and an exit code.

        Codes of 74 and above mean that the output is lost, so they are independent of the command's result.
        """
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _silence()
            ctx.exit(ExitCode.OUTPUT_CLOSED)
        except OSError as error:
            _silence()
            ctx.exit(_failed(error, ExitCode.CANNOT_PRINT))
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(ExitCode.INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - raised again unless it has a message and a code
            ctx.exit(self._code_of(error, ctx.invoked_subcommand or ""))
        return result

    def _code_of(self, error: Exception, command: str) -> ExitCode:
        """Print an exception of the program, or any of a plugin's command; return its exit code, and raise others again."""
        from negotiator.cli.errors import print_error
        from negotiator.errors import NegotiatorError

        if isinstance(error, NegotiatorError):
            return print_error(error)
        if command in self.commands or command not in self._plugin_commands:
            raise error
        return _failed(error, ExitCode.PLUGIN, f"command {command} of a plugin: ")

    @cached_property
    def _plugin_commands(self) -> Mapping[str, click.Command]:
        bundled = bundled_commands()
        # The commands of other plugins are known once the plugins are loaded.
        return self._loaded_commands() if bundled is None else bundled

    def _loaded_commands(self) -> dict[str, click.Command]:
        from negotiator.cli.problems import print_problems
        from negotiator.hooks import specs
        from negotiator.hooks.loading import load_plugins
        from negotiator.hooks.settings import PluginSettings
        from negotiator.records import Severity

        manager, problems = load_plugins(PluginSettings())
        print_problems((each for each in problems if each.severity is Severity.ERROR), err=True)
        answers = manager.ask(specs.negotiator_commands)
        for failure in answers.failures:
            click.echo(f"warning: {failure}; its commands are missing", err=True)
        commands: dict[str, click.Command] = {}
        for attributed in answers.records:
            name = attributed.record.name or ""
            if name in self.commands or name in commands:
                click.echo(
                    f"warning: plugin {attributed.plugin}: the command {name!r} exists already", err=True
                )
            else:
                commands[name] = attributed.record
        return commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *self._plugin_commands})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name; None if unknown."""
        return super().get_command(ctx, cmd_name) or self._plugin_commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, and its arguments; another word, or a program of Grid Engine, is answered by what to use."""
        word = args[0]
        if word in {*MOVED, *PROGRAMS} and self.get_command(ctx, word) is None:
            use = f"Use {MOVED[word]}" if word in MOVED else f"Here, {PROGRAMS[word]}"
            ctx.fail(f"No such command {word!r}. {use}.")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by who needs them, a line each; the lines of all groups are aligned."""
        found = {
            name: command for name in self.list_commands(ctx) if (command := self.get_command(ctx, name))
        }
        width = max(map(len, found))
        room = formatter.width - width - _MARGINS
        for group, names in in_groups([name for name, command in found.items() if not command.hidden]):
            with formatter.section(group):
                rows = [(name.ljust(width), found[name].get_short_help_str(room)) for name in names]
                formatter.write_dl(rows)


def _failed(error: Exception, code: ExitCode, prefix: str = "") -> ExitCode:
    """Print an exception of a command that has no message of its own; return the exit code."""
    from negotiator.hooks.failures import describe_error
    from negotiator.records.text import printable

    click.echo(f"error: {prefix}{printable(describe_error(error))}", err=True)
    return code


def _silence() -> None:
    """Redirect standard output to the null device, so that Python does not fail again when it flushes it at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass
    finally:
        os.close(null)
