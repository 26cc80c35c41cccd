"""The image of a Containerfile: buildah builds it in a storage of its own, as root, and runs programs in it.

Neither a service nor a runtime of containers is needed: programs run in a chroot.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import debian

ISOLATION: Final = "--isolation=chroot"
#: A base image where none can be fetched: Debian's Python of the suite with the version of the default one.
_DEBIAN: Final = (
    *("mmdebstrap", "--quiet", "--variant=minbase", "--include=python3,python3-venv"),
    *("--aptopt=APT::Install-Recommends false", "--aptopt=Acquire::Check-Valid-Until false"),
    "trixie",
)
#: So that pip trusts the registry that it trusts here.
_CERTIFICATES: Final = "/etc/ssl/certs/ca-certificates.crt"
_TIME: Final = 900  # seconds


class ContainersUnavailableError(Exception):
    """No image can be built here; the text has the reason and what to do."""


class Containers:
    """Images and containers in one folder."""

    def __init__(self, folder: Path, buildah: str) -> None:
        self.folder = folder
        self._command = (buildah, "--root", str(folder / "storage"), "--runroot", str(folder / "run"))

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run buildah; return its outputs and exit code."""
        return subprocess.run(  # noqa: S603 - commands of tests
            (*self._command, *words), capture_output=True, text=True, timeout=_TIME, check=False
        )

    def checked(self, *words: str) -> str:
        """Run buildah; return what it prints.

        :raises AssertionError: it fails; the text has the end of its output.
        """
        done = self.call(*words)
        assert done.returncode == 0, f"buildah {' '.join(words)}: {(done.stdout + done.stderr)[-2000:]}"
        return done.stdout.strip()

    def base(self, image: str) -> str:
        """Return an image if it can be fetched, else the name of one that is made of Debian's packages.

        :raises ContainersUnavailableError: neither of both is possible.
        """
        if self.call("pull", "--quiet", image).returncode == 0:
            return image
        container = self.checked("from", "scratch")
        try:
            debian.program("mmdebstrap", "mmdebstrap")
            debian.run((*_DEBIAN, self.checked("mount", container)), _TIME, ContainersUnavailableError)
        except (ContainersUnavailableError, debian.ProgramMissingError) as error:
            raise ContainersUnavailableError(f"{image} cannot be fetched, and {error}") from error
        self.checked("commit", "--quiet", "--rm", container, "localhost/python")
        return "localhost/python"

    def build(self, context: Path, file: Path, base: str = "scratch") -> str:
        """Build an image; return the name of a container of it.

        :raises ContainersUnavailableError: pip in the container finds no registry.
        """
        certificates = (
            (f"--volume={_CERTIFICATES}:{_CERTIFICATES}:ro",) if Path(_CERTIFICATES).exists() else ()
        )
        words = ("bud", ISOLATION, "--layers=false", *certificates, f"--build-arg=PYTHON={base}")
        done = self.call(*words, f"--file={file}", "--tag=localhost/built", str(context))
        if "(from versions: none)" in done.stderr:
            raise ContainersUnavailableError(f"pip in a container finds no packages: {done.stderr[-500:]}")
        assert done.returncode == 0, done.stderr[-2000:]
        return self.checked("from", "localhost/built")

    def files(self, container: str) -> set[str]:
        """Return the paths of the files in a container."""
        root = Path(self.checked("mount", container))
        found = {
            Path(folder, name).relative_to(root).as_posix()
            for folder, _, names in os.walk(root)
            for name in names
        }
        self.checked("umount", container)
        return found

    def start(self, container: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run the container's entry point with arguments, as its user in its working folder."""
        entry_point = "{{range .OCIv1.Config.Entrypoint}}{{println .}}{{end}}"
        return self.inside(
            container, *self.checked("inspect", "--format", entry_point, container).splitlines(), *words
        )

    def inside(self, container: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in a container, as its user in its working folder."""
        return self.call("run", ISOLATION, container, "--", *words)


@contextmanager
def containers(folder: Path) -> Iterator[Containers]:
    """Yield a storage of images, which is removed in the end.

    :raises ContainersUnavailableError: buildah is missing, or is not run by root.
    """
    if os.geteuid() != 0:
        raise ContainersUnavailableError("images are built by root here: run this as root")
    try:
        # Not installed by CI: that takes a minute with the base image.
        buildah = debian.program("buildah", "buildah", environment={})
    except debian.ProgramMissingError as error:
        raise ContainersUnavailableError(str(error)) from error
    opened = Containers(folder, buildah)
    try:
        yield opened
    finally:
        opened.call("rm", "--all")
        opened.call("rmi", "--all", "--force")
        shutil.rmtree(folder)
