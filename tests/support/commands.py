"""Runs one command as the program does, so that an exception becomes a message and an exit code."""

from click.testing import CliRunner

from negotiator.cli.group import PluginGroup
from negotiator.cli.lazy import LazyCommand


def invoke(command, words, program=None, **more):
    """Return click's result of a command; ``program`` is the ``CommandContext`` of a plugin's command."""
    group = PluginGroup(commands=[command])
    return CliRunner().invoke(group, [command.name, *map(str, words)], obj=program, **more)


def loaded(command):
    """Return a command itself, with its parameters: the list of commands has names and help lines only."""
    return command.load() if isinstance(command, LazyCommand) else command
