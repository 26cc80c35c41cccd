"""The root folder with the package ``condor``: the one of NEGOTIATOR_CONDOR_ROOT, or one that is built once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import debian
from condor_pool.errors import PoolUnavailableError

VARIABLE: Final = "NEGOTIATOR_CONDOR_ROOT"
MASTER: Final = Path("usr", "sbin", "condor_master")

_BUILD_TIME: Final = 900  # seconds
#: The unstable suite has the version of HTCondor that the wire was compared with (25.14); stable has an older one.
_BUILD: Final = (
    *("mmdebstrap", "--quiet", "--variant=apt", "--include=condor"),
    *("--aptopt=APT::Install-Recommends false", "--aptopt=Acquire::Check-Valid-Until false"),
    "sid",
)
#: As ``start.sh`` does.
_MOUNTS: Final = """mount -t tmpfs test /mnt && mkdir /mnt/a /mnt/b /mnt/c &&
mount -t overlay -o lowerdir=/usr,upperdir=/mnt/a,workdir=/mnt/b test /mnt/c"""
_NAMESPACES: Final = (
    *("setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "sh", "-c"),
    _MOUNTS,
)


def root_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the root folder; build it under the user's cache if the variable is not set and there is none.

    :raises PoolUnavailableError: what is missing, with what to do.
    """
    _check_machine()
    if given := environment.get(VARIABLE, ""):
        if not (Path(given) / MASTER).exists():
            raise PoolUnavailableError(
                f"no HTCondor in {given!r}: set {VARIABLE} to a root folder with /{MASTER}, or unset it to have one built"
            )
        return Path(given).absolute()
    cache = Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache", "negotiator")
    recipe = hashlib.sha256("\0".join(_BUILD).encode()).hexdigest()[:12]
    return _built(cache.absolute() / f"condor-{recipe}", environment)


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise PoolUnavailableError("a real pool is started by root: run this as root")
    try:
        debian.run(_NAMESPACES, 30, PoolUnavailableError)
    except PoolUnavailableError as error:
        raise PoolUnavailableError(
            f"a real pool needs namespaces and an overlay file system: {error}"
        ) from None


def _built(root: Path, environment: Mapping[str, str]) -> Path:
    """Return a folder that one process builds; the others wait for it, and fail with it in the same run of tests."""
    run = environment.get("PYTEST_XDIST_TESTRUNUID", "")
    failure = root.with_name(root.name + ".failed")
    with _locked(root):
        if root.is_dir():
            return root
        if run and failure.is_file() and failure.read_text().startswith(f"{run}\n"):
            raise PoolUnavailableError(failure.read_text().partition("\n")[2])
        try:
            _build(root, environment)
        except PoolUnavailableError as error:
            failure.write_text(f"{run}\n{error}")
            raise
        failure.unlink(missing_ok=True)
    return root


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    root.parent.mkdir(parents=True, exist_ok=True)
    with root.with_name(root.name + ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(root: Path, environment: Mapping[str, str]) -> None:
    """Install the package into a new folder; nothing has its final name until it is complete."""
    try:
        debian.program("mmdebstrap", "mmdebstrap", environment=environment)
    except debian.ProgramMissingError as error:
        raise PoolUnavailableError(f"{error}, or set {VARIABLE}") from error
    part = root.with_name(root.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        debian.run((*_BUILD, str(part)), _BUILD_TIME, PoolUnavailableError)
        part.rename(root)
    finally:
        shutil.rmtree(part, ignore_errors=True)
