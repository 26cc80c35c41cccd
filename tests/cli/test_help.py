"""The help of all commands: grouped by who needs a command, and in the width of the terminal."""

import re
import shlex

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cli import help_groups, main
from negotiator.cli.bundled import COMMANDS as OF_PLUGINS
from negotiator.cli.commands import COMMANDS
from negotiator.cli.help_formatter import HelpFormatter

_WORDS = st.lists(st.text("ab.-'\"", min_size=1, max_size=12), min_size=1, max_size=20)


def helped(*words, columns=80):
    """Return the lines of the help of a command in a terminal of that width."""
    done = CliRunner().invoke(main, [*words, "--help"], terminal_width=columns)
    assert done.exit_code == 0
    return done.output.splitlines()


def paths(command=main, path=()):
    """Yield the words of each command and subcommand."""
    yield path
    loaded = command.load() if hasattr(command, "load") else command
    if isinstance(loaded, click.Group):
        context = click.Context(loaded, **loaded.context_settings)
        for name in loaded.list_commands(context):
            yield from paths(loaded.get_command(context, name), (*path, name))


def test_each_command_is_in_one_group_and_has_one_line():
    lines = helped()
    names = {*COMMANDS, *(name for commands in OF_PLUGINS.values() for name in commands)}
    grouped = [name for names in help_groups.GROUPS.values() for name in names]
    assert len({*grouped}) == len(grouped)
    assert names <= {*grouped}
    begin = lines.index("Everyday:")
    entries = [line for line in lines[begin:] if line.startswith("  ")]
    assert {line.split()[0] for line in entries} == names
    assert not [line for line in entries if line.startswith("    ")]


def test_commands_without_a_group_are_those_of_plugins():
    assert list(help_groups.in_groups(["audit", "mine", "also"])) == [
        ("Auditors", ["audit"]),
        ("Plugins", ["also", "mine"]),
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_of_any_help_is_wider_than_the_terminal(columns):
    wide = [
        (path, line)
        for path in paths()
        for line in helped(*path, columns=columns)
        if len(line) > columns and re.search(r"\S\s+\S", line.strip(" \\"))
    ]
    assert wide == []


def test_an_example_that_is_wrapped_is_still_the_same_command_of_a_shell():
    text = "\n".join(helped("whatif"))
    example = re.search(r"negotiator whatif --recorded .*?[^\\]\n", text, re.DOTALL)[0]
    assert "\\\n" in example
    assert shlex.split(example.replace("\\\n", "")) == [
        *("negotiator", "whatif", "--recorded", "recorded/", "--set-jobs", 'Owner == "sue"'),
        "RequestMemory=RequestMemory / 2",
    ]


def test_the_second_column_of_a_table_stays_a_column():
    lines = helped("run")
    begin = next(number for number, line in enumerate(lines) if line.startswith("    3  "))
    assert lines[begin + 1].startswith("       match of that cycle")


@given(_WORDS, st.integers(20, 60))
def test_wrapping_neither_adds_nor_removes_a_word(words, width):
    formatter = HelpFormatter(width=width)
    formatter.write(f"  {' '.join(words)}")
    assert formatter.getvalue().split() == words
