"""Where real pools come from: a folder that is given, or one that is built once, or the reason why there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pool import PoolUnavailableError, root_folder

#: In the place of mmdebstrap: its last argument is the folder to make.
BUILDER = """#!/bin/sh
echo built >> {log}
for folder; do :; done
mkdir "$folder"
{more}
"""
SUPPORT = Path(__file__).parents[1] / "support"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="real pools are started by root")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that puts a builder into the path; it returns the environment for a build."""

    def prepare(more=""):
        builder = tmp_path / "bin" / "mmdebstrap"
        builder.parent.mkdir()
        builder.write_text(BUILDER.format(log=tmp_path / "log", more=more))
        builder.chmod(0o755)
        monkeypatch.setenv("PATH", f"{builder.parent}:{os.environ['PATH']}")
        return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTEST_XDIST_TESTRUNUID": "this run"}

    return prepare


def test_a_user_who_is_not_root_learns_that(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(PoolUnavailableError, match="run this as root"):
        root_folder({})


@needs_root
def test_a_folder_without_htcondor_is_named(tmp_path):
    with pytest.raises(PoolUnavailableError, match=f"no HTCondor in '{tmp_path}'"):
        root_folder({"NEGOTIATOR_CONDOR_ROOT": str(tmp_path)})


@needs_root
def test_processes_that_want_the_folder_at_the_same_time_build_it_once(machine, tmp_path):
    settings = machine("sleep 1")
    environment = {**os.environ, **settings, "NEGOTIATOR_CONDOR_ROOT": ""}
    command = [sys.executable, "-m", "condor_pool"]
    others = [
        subprocess.Popen(command, cwd=SUPPORT, env=environment, stdout=subprocess.PIPE) for _ in range(3)
    ]
    folders = {each.communicate()[0] for each in others}
    assert len(folders) == 1
    assert Path(folders.pop().decode().strip()).is_dir()
    assert (tmp_path / "log").read_text() == "built\n"


@needs_root
def test_a_build_that_failed_is_not_repeated_in_the_same_run_and_leaves_nothing(machine, tmp_path):
    environment = machine("echo no network; exit 25")
    for _ in range(2):
        with pytest.raises(PoolUnavailableError, match="exit code 25: no network"):
            root_folder(environment)
    assert (tmp_path / "log").read_text() == "built\n"
    assert not [each for each in (tmp_path / "cache" / "negotiator").iterdir() if each.is_dir()]
    with pytest.raises(PoolUnavailableError):
        root_folder({**environment, "PYTEST_XDIST_TESTRUNUID": "the next run"})
    assert (tmp_path / "log").read_text() == "built\n" * 2
