"""Every command's help lists its exit codes, and uses the codes of the one table."""

import re

import click
import pytest

from commands import loaded
from negotiator.cli import main
from negotiator.exit_codes import ExitCode


def commands(group, path=()):
    for name, listed in group.commands.items():
        command = loaded(listed)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command, group


LEAVES = [(command, group) for _, command, group in commands(main)]


@pytest.mark.parametrize(("command", "group"), LEAVES, ids=[" ".join(path) for path, _, _ in commands(main)])
def test_help_lists_exit_codes_of_the_table(command, group):
    """Commands of a group may leave the list to the group."""
    text = next(text for text in (command.help, group.help, "") if text is not None and "Exit codes:" in text)
    listing = text.partition("Exit codes:")[2].partition("Examples:")[0]
    listed = re.findall(r"^ *(\d+(?:, \d+)*)  ", listing, re.MULTILINE)
    codes = [int(code) for line in listed for code in line.split(",")]
    assert codes[0] == ExitCode.DONE
    assert codes == sorted(set(codes))
    assert set(codes) <= set(ExitCode)
