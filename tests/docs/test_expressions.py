"""The page for authors of expressions shows what the commands print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from negotiator.cli.session import COMMANDS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "expressions.md").read_text(encoding="utf-8")


def blocks(language):
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def shown_commands():
    """Yield every command line of eval and repl, with the output shown below it."""
    for block in blocks("console"):
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            if re.search(r"\bnegotiator (eval|repl)\b", command):
                yield command, output


@pytest.fixture
def shell(tmp_path):
    """Return a function that runs a shell command in the project, with the program on its path."""
    script = tmp_path / "negotiator"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m negotiator "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}

    def run(line):
        done = subprocess.run(
            ["sh", "-c", f"{line} 2>&1"], cwd=ROOT, env=environment, capture_output=True, check=False
        )
        return done.stdout.decode()

    return run


@pytest.mark.parametrize(("command", "output"), list(shown_commands()))
def test_a_command_prints_the_shown_output(shell, command, output):
    """Character by character."""
    assert shell(command) == output


def test_the_session_prints_the_shown_output(monkeypatch):
    """The lines after the prompt give the lines below them."""
    monkeypatch.chdir(ROOT)
    (block,) = (block for block in blocks("text") if block.startswith("> "))
    inputs = [line[2:] for line in block.splitlines() if line.startswith("> ")]
    shown = [line for line in block.splitlines() if not line.startswith("> ")]
    done = CliRunner().invoke(main, ["expr", "repl"], input="\n".join(inputs))
    assert done.stderr == ""
    assert done.stdout.splitlines() == shown


def test_every_command_of_the_repl_is_documented():
    """With its arguments."""
    assert [command.usage for command in COMMANDS.values() if f"`{command.usage}`" not in TEXT] == []
