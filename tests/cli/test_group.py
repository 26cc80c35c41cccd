"""Commands of installed plugins."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from distributions import install
from negotiator.cli import main
from negotiator.cli.help_groups import MOVED

COMMANDS = """
import click
from negotiator.plugin import hookimpl

@click.command()
def hello():
    "Say hello."
    click.echo("hello from a plugin")

@click.command("run")
def mine():
    click.echo("mine")

@hookimpl
def negotiator_commands():
    return [hello, mine]
"""


@pytest.fixture
def negotiator(tmp_path):
    """Return a function that runs the program in an environment with one installed plugin."""

    def call(code, *arguments):
        install(tmp_path, "site", "site_commands", source=code)
        words = [sys.executable, "-m", "negotiator", *arguments]
        return subprocess.run(
            words,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_a_command_of_a_plugin_runs_like_any_other(negotiator):
    done = negotiator(COMMANDS, "hello")
    assert (done.returncode, done.stdout) == (0, "hello from a plugin\n")


def test_a_command_of_the_program_cannot_be_replaced(negotiator):
    """The plugin is named, and its other commands stay."""
    done = negotiator(COMMANDS, "--help")
    assert done.returncode == 0
    assert "the command 'run' exists already" in done.stderr
    assert "Run negotiation cycles" in done.stdout
    assert "Say hello." in done.stdout


def test_a_plugin_that_cannot_be_imported_is_named_where_its_command_is_missing(negotiator):
    done = negotiator("raise RuntimeError('no such luck')", "hello")
    assert done.returncode == 2
    assert "plugin site can't be loaded: RuntimeError: no such luck" in done.stderr


def test_a_plugin_that_fails_to_give_its_commands_is_named(negotiator):
    code = COMMANDS.replace("return [hello, mine]", "raise ValueError('none today')")
    done = negotiator(code, "--help")
    assert done.returncode == 0
    assert "ValueError: none today (" in done.stderr
    assert "site_commands.py:16); its commands are missing" in done.stderr


@pytest.mark.parametrize(
    ("program", "instead"),
    [("qstat", "negotiator why JOB"), ("qdel", "condor_rm"), ("qacct", "negotiator usage")],
)
def test_a_program_of_grid_engine_is_answered_by_what_to_use_instead(negotiator, program, instead):
    """With its own arguments."""
    done = negotiator(COMMANDS, program, "-j", "5")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"No such command '{program}'. Here, " in done.stderr
    assert instead in done.stderr


@pytest.mark.parametrize("word", sorted(MOVED))
def test_a_word_that_is_no_command_is_answered_by_the_right_form(word):
    """Its form is a call that there is."""
    done = CliRunner().invoke(main, [word])
    assert (done.exit_code, f"No such command '{word}'. Use {MOVED[word]}." in done.stderr) == (2, True)
    for form in MOVED[word].split(", or "):
        words = form.split(" for ")[0].split()[1:]
        assert CliRunner().invoke(main, [*words, "--help"]).exit_code == 0, form


def test_a_plugin_may_have_a_command_of_such_a_name(negotiator):
    done = negotiator(COMMANDS.replace('"run"', '"qstat"'), "qstat")
    assert (done.returncode, done.stdout) == (0, "mine\n")
