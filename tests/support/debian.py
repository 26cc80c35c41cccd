"""Programs of Debian packages that tests start: CI installs them, elsewhere the error names them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_TIME: Final = 900  # seconds
_INSTALL: Final = ("apt-get", "install", "-y", "-qq", "--no-install-recommends")
_LOCK: Final = Path(tempfile.gettempdir(), "negotiator-tests-apt.lock")


class ProgramMissingError(Exception):
    """A program is missing and cannot be installed; the text has the reason and what to do."""


def program(name: str, *packages: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of a program; if it is missing and CI is set, its packages are installed first.

    :raises ProgramMissingError: it is missing.
    """
    if shutil.which(name) is None and environment.get("CI"):
        _install(name, packages)
    found = shutil.which(name)
    if found is None:
        raise ProgramMissingError(f"{name} is not installed: apt-get install {' '.join(packages)}")
    return found


def _install(name: str, packages: tuple[str, ...]) -> None:
    """Install the packages of a program, unless another process does so meanwhile."""
    with _LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if shutil.which(name) is None:
            for command in (("apt-get", "update", "-qq"), (*_INSTALL, *packages)):
                run(command, _TIME, ProgramMissingError)


def run(command: tuple[str, ...], seconds: float, failure: type[Exception]) -> None:
    """Run a command that requests no input; raise ``failure`` with the end of its output if it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - commands of the tests
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise failure(f"{' '.join(command)}: {error}") from error
    if done.returncode != 0:
        raise failure(f"{' '.join(command)}: exit code {done.returncode}: {done.stdout.strip()[-500:]}")
