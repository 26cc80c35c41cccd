"""Calls of ``negotiator init`` in the current folder, and what it wrote."""

from pathlib import Path

from click.testing import CliRunner

from negotiator.app.check import check_bundle
from negotiator.cli import main
from negotiator.hooks.command_targets import CommandTargets


def run(*words, **more):
    """Run the program; return the exit code and the output."""
    done = CliRunner().invoke(main, words, **more)
    return done.exit_code, done.output


def files(**texts):
    """Write files, and return the options that name them."""
    for name, text in texts.items():
        Path(name).write_text(text)
    return [word for name in texts for word in ("--file", name)]


def made_of(*words, **texts):
    """Make the bundle ``site`` of files, which have to be valid and to pass their test; return a function that reads a file of it."""
    code, output = run("init", "site", *words, *files(**texts))
    assert (code, remarks("site")) == (0, []), output
    assert run("test", "--bundle", "site")[0] == 0
    return lambda name: Path("site", name).read_text()


def remarks(folder):
    """Return all problems of a bundle, as text."""
    return [str(problem) for problem in check_bundle(CommandTargets(bundle=Path(folder))).problems]
