"""HTCondor's own tests of its Python bindings pass with ``negotiator.classad`` in the place of ``classad2``.

They are not part of this project: ``NEGOTIATOR_HTCONDOR_SOURCE`` names a checkout of HTCondor's repository.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = os.environ.get("NEGOTIATOR_HTCONDOR_SOURCE", "")
FILES = ("test_python_bindings_classad.py", "test_classads.py", "test_classad_version_comparison.py")
"""The tests that need no pool and no program of HTCondor."""

DIFFERENCES = {}
"""Tests that fail on purpose, with the row of the table in docs/classads.md: none. HTCondor's own expected failures stay."""


@pytest.mark.skipif(
    not SOURCE, reason="NEGOTIATOR_HTCONDOR_SOURCE does not name a checkout of HTCondor's repository"
)
@pytest.mark.parametrize("name", FILES)
def test_the_tests_of_the_bindings_pass(tmp_path, name):
    shutil.copy(Path(SOURCE) / "src" / "condor_tests" / name, tmp_path)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "classad2_alias",
        "-c",
        os.devnull,
        "-rfE",
        "-q",
        "--tb=line",
        name,
    ]
    support = str(Path(__file__).parents[1] / "support")
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": support},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = set(re.findall(r"^(?:FAILED|ERROR) \S+?::(\S+)", done.stdout, re.MULTILINE))
    assert failed == DIFFERENCES.get(name, set()), done.stdout
    assert re.search(r"\d+ passed", done.stdout), done.stdout + done.stderr
