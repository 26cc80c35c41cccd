"""The package of a new plugin passes its own tests, ruff and mypy as it is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, ["init", "--plugin", *words])


def environment(site):
    """Return variables with which another process finds a package that is installed in a folder of its own."""
    return {**os.environ, "PYTHONPATH": str(site), "MYPYPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("name", ["night-shift", "a", "a-name-that-is-as-long-as-it-is"[:30]])
def test_it_is_formatted_and_has_no_finding_of_ruff(run, name):
    assert run(name).exit_code == 0
    for words in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *words, "--no-cache", "."]
        done = subprocess.run(ruff, cwd=f"negotiator-{name}", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_it_passes_its_tests_and_mypy_once_it_is_installed(run, tmp_path):
    assert run("night-shift").exit_code == 0
    project, site = tmp_path / "negotiator-night-shift", tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*pip, "--no-build-isolation", "--no-deps", "--target", site, project], check=True)
    printed = ""
    for words in (["pytest", "-p", "no:cacheprovider", "-p", "no:schemathesis"], ["mypy"]):
        command = [sys.executable, "-m", *words]
        done = subprocess.run(
            command, cwd=project, env=environment(site), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
    assert "5 passed" in printed
    assert "Success: no issues found in 1 source file" in printed


def test_no_file_is_changed(run):
    Path("mine").mkdir()
    Path("mine", "README.md").write_text("mine")
    done = run("night-shift", "mine")
    assert (done.exit_code, [path.name for path in Path("mine").iterdir()]) == (1, ["README.md"])
    assert "mine/README.md: exists already, and nothing was written" in done.output


@pytest.mark.parametrize("name", ["Night", "1st", "night_shift", "a--b", "a-", "", "../a", "a" * 31])
def test_an_invalid_name_is_refused(run, name):
    done = run(name)
    assert done.exit_code == 2
    assert "invalid name of a plugin" in done.output
    assert list(Path().iterdir()) == []


def test_the_prefix_of_distributions_is_not_written_twice(run):
    assert run("negotiator-night-shift").exit_code == 0
    assert [path.name for path in Path().iterdir()] == ["negotiator-night-shift"]
