"""Man pages and completions are made from the commands."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from commands import loaded
from negotiator import __version__
from negotiator.cli import main

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "release" / "shared_files.py"


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    folder = tmp_path_factory.mktemp("share")
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, str(SCRIPT), str(folder)], env=environment, check=True)
    return folder


def names(group, path=("negotiator",)):
    """Yield the names of the pages of a group and of all commands below it."""
    yield "-".join(path)
    context = click.Context(group, **group.context_settings)
    for name in group.list_commands(context):
        command = loaded(group.get_command(context, name))
        if isinstance(command, click.Group):
            yield from names(command, (*path, name))
        elif not command.hidden:
            yield "-".join((*path, name))


def test_each_command_has_a_page_also_those_of_plugins(share):
    pages = {path.stem for path in (share / "man" / "man1").iterdir()}
    assert pages == set(names(main))
    assert {"negotiator", "negotiator-run", "negotiator-qconf", "negotiator-audit-verify"} <= pages


def test_a_page_has_the_options_and_the_date_of_the_build(share):
    text = (share / "man" / "man1" / "negotiator-run.1").read_text()
    assert f'"2023-11-14" "{__version__}"' in text
    assert r"\-\-bundle" in text
    assert "Exit codes:" in text
    assert "\b" not in text


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed: apt-get install man-db")
def test_man_shows_each_page_without_a_warning(share):
    environment = os.environ | {"MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-ww"}
    for page in sorted((share / "man" / "man1").iterdir()):
        done = subprocess.run(
            ["man", "--warnings", "-l", str(page)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), page.name
        assert "DESCRIPTION" in done.stdout


def test_no_line_of_a_help_text_is_a_command_of_roff():
    spec = importlib.util.spec_from_file_location("shared_files", SCRIPT)
    shared_files = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(shared_files)
    lines = list(shared_files.roff("One\n.two\n'three\\\n\n\b\n  four  4\n.five"))
    assert lines == [".PP", "One", r"\&.two", r"\&'three\e", ".PP", ".nf", "  four  4", r"\&.five", ".fi"]


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", "bash-completion/completions/negotiator"),
        ("zsh", "zsh/site-functions/_negotiator"),
        ("fish", "fish/vendor_completions.d/negotiator.fish"),
    ],
)
def test_each_shell_accepts_its_completions(share, shell, file):
    text = (share / file).read_text()
    assert "_NEGOTIATOR_COMPLETE" in text
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(share / file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_bash_completes_a_command(share):
    """As bash does when a user presses Tab."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    script = f"""
        source {share}/bash-completion/completions/negotiator
        COMP_WORDS=(negotiator qq) COMP_CWORD=1
        _negotiator_completion negotiator qq
        echo "${{COMPREPLY[@]}}"
    """
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run([bash, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["qquota"]
