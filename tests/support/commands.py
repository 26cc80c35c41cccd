"""Runs one command as the program does, so that an exception becomes a message and an exit code."""

from click.testing import CliRunner

from negotiator.cli.group import PluginGroup


def invoke(command, words, program=None, **more):
    """Return click's result of a command; ``program`` is the ``CommandContext`` of a plugin's command."""
    group = PluginGroup(commands=[command])
    return CliRunner().invoke(group, [command.name, *map(str, words)], obj=program, **more)
