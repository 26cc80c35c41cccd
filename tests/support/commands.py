"""Runs a plugin's command as the program does, so that an exception becomes a message and an exit code."""

from click.testing import CliRunner

from negotiator.cli.group import PluginGroup


def run_plugin_command(command, words, program, **more):
    """Return click's result of a command; ``program`` is the ``CommandContext`` that it gets."""
    group = PluginGroup(commands=[command])
    return CliRunner().invoke(group, [command.name, *map(str, words)], obj=program, **more)
