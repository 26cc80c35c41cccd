"""Other versions of CPython on this machine, and the program with its pinned dependencies for them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import attrs

from condor_pool import PoolUnavailableError, root_folder

ROOT: Final = Path(__file__).parents[2]
VERSIONS: Final = ("3.11", "3.12", "3.13", "3.14")
#: In namespaces of its own, so that nothing remains mounted: a folder is /mnt in a root folder of Debian.
_IN_ROOT: Final = (
    'mount --bind "$1" "$2/mnt" && shift && exec chroot "$1" sh -c \'cd /mnt && exec "$@"\' "$@"'
)
_TIME: Final = 300  # seconds


class InterpreterMissingError(Exception):
    """A version of Python, or a package for it, is missing; the text has the reason and what to do."""


@attrs.frozen
class Interpreter:
    """A version of CPython: a program of this machine, or of a root folder of Debian."""

    version: str
    program: str
    root: Path | None = None

    def run(self, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run it in a folder whose packages are in ``site``; a warning is an error."""
        command = [
            "env",
            "-i",
            "PATH=/usr/bin:/bin",
            "PYTHONPATH=site",
            self.program,
        ]
        command += ["-W", "error", *words]
        if self.root is not None:
            command = [
                "unshare",
                "--mount",
                "sh",
                "-c",
                _IN_ROOT,
                "sh",
                str(folder),
                str(self.root),
                *command,
            ]
        return subprocess.run(  # noqa: S603 - interpreters of this machine
            command, cwd=folder, capture_output=True, text=True, timeout=_TIME, check=False
        )


def interpreter(version: str) -> Interpreter:
    """Return an interpreter of a version such as ``3.13``: of the path, of pyenv, or of the root folder of real pools.

    :raises InterpreterMissingError: there is none.
    """
    candidates = [Path(folder, f"python{version}") for folder in os.get_exec_path()]
    candidates += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for candidate in candidates:
        if candidate.exists():
            found = Interpreter(version, str(candidate))
            if _is_usable(found):  # a shim of pyenv may be none
                return found
    try:
        root = root_folder()
    except PoolUnavailableError as error:
        raise InterpreterMissingError(f"python{version} is not installed, and {error}") from error
    if not Path(root, "usr", "bin", f"python{version}").exists():
        raise InterpreterMissingError(f"python{version} is not installed, nor in {root}: install one of them")
    return Interpreter(version, f"/usr/bin/python{version}", root)


def _is_usable(candidate: Interpreter) -> bool:
    script = "import sys; print(sys.implementation.name, *sys.version_info[:2])"
    return candidate.run(ROOT, "-c", script).stdout.split() == ["cpython", *candidate.version.split(".")]


def install(version: str, site: Path, wheel: Path) -> None:
    """Install a wheel and the pinned dependencies of the program for a version into a folder, without running it.

    :raises InterpreterMissingError: a package cannot be fetched, or has no wheel for this version.
    """
    uv = (str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--target", str(site))
    pinned = (
        "--require-hashes",
        "--only-binary=:all:",
        "--requirements",
        str(ROOT / "requirements" / "run.txt"),
    )
    for words in (pinned, ("--no-deps", str(wheel))):
        done = subprocess.run(  # noqa: S603 - uv
            (*uv, f"--python-version={version}", *words),
            capture_output=True,
            text=True,
            timeout=_TIME,
            check=False,
        )
        if done.returncode != 0:
            raise InterpreterMissingError(f"packages for Python {version}: {done.stderr.strip()[-500:]}")
