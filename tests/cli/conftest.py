"""Whatever a command prints with ``--json`` in these tests is validated by its schema."""

import subprocess

import pytest
from click.testing import CliRunner

from bundle_with_tests import BundleWithTests
from negotiator.cli import main
from output_schemas import check_output

_BEGIN = ["-m", "negotiator"]


@pytest.fixture(autouse=True)
def _validated_outputs(monkeypatch):
    """Validate the output of each command that is run in the process, or waited for as another process."""
    invoke, run = CliRunner.invoke, subprocess.run

    def invoked(self, cli, args=None, *rest, **given):
        done = invoke(self, cli, args, *rest, **given)
        if cli is main and isinstance(args, list | tuple):
            check_output(args, done.stdout)
        return done

    def ran(command, *rest, **given):
        done = run(command, *rest, **given)
        if isinstance(command, list) and command[1:3] == _BEGIN and isinstance(done.stdout, str):
            check_output(command[3:], done.stdout)
        return done

    monkeypatch.setattr(CliRunner, "invoke", invoked)
    monkeypatch.setattr(subprocess, "run", ran)


@pytest.fixture
def tested_bundle(tmp_path, monkeypatch):
    """Return a bundle with a test, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return BundleWithTests(tmp_path)
