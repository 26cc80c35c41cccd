"""The unit is valid for systemd, and its command and its file for this program."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from negotiator.app.service_file import read_service_file
from negotiator.app.service_settings import KEYS

UNIT = Path(__file__).with_name("negotiator.service")
FILE = Path(__file__).with_name("negotiator.yaml")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_finds_no_fault():
    verify = ["systemd-analyze", "verify", "--man=no", str(UNIT)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_its_command_has_options_of_the_program():
    (line,) = [each for each in UNIT.read_text().splitlines() if each.startswith("ExecStart=")]
    _, program, *arguments = shlex.split(line.removeprefix("ExecStart="))
    assert program == "negotiator"
    done = subprocess.run(
        [sys.executable, "-m", *[program, *arguments], "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_its_file_is_valid_and_names_every_key():
    """Keys that most sites leave out are comments."""
    file = read_service_file(FILE)
    assert file.problems == ()
    assert set(re.findall(r"^(?:# )?([a-z_]+): ", FILE.read_text(), re.MULTILINE)) == {*KEYS} - {
        *("plugins_dir", "disable")
    }
    assert Path(file.values["bundle"]).name == "site"
