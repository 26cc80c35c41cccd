"""HTCondor's own programs, in a root folder with the package ``condor``; needs root."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from condor_pool import PoolUnavailableError, root_folder

_CONFIG = """
LOCAL_CONFIG_DIR =
RELEASE_DIR = /usr
BIN = /usr/bin
SBIN = /usr/sbin
LOCAL_DIR = {folder}
RUN = {folder}
LOG = {folder}
LOCK = {folder}
SPOOL = {folder}
CONDOR_HOST = 127.0.0.1
COLLECTOR_HOST = 127.0.0.1:1
NETWORK_INTERFACE = 127.0.0.1
ENABLE_IPV6 = False
USE_SHARED_PORT = False
NO_DNS = True
DEFAULT_DOMAIN_NAME = example.org
FULL_HOSTNAME = pool.example.org
"""


class RealCondor:
    """Runs programs of HTCondor with a folder and a configuration of their own; the folder is theirs to write."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        inside = Path("/") / folder.relative_to(root)
        (folder / "config").write_text(_CONFIG.format(folder=inside))
        self.inside = inside
        self.environment = {**os.environ, "CONDOR_CONFIG": str(inside / "config"), "TZ": "UTC"}
        self._chroot("chown", "-R", "condor:condor", str(inside)).check_returncode()

    def _chroot(self, *command):
        return subprocess.run(  # noqa: S603
            [  # noqa: S607
                "chroot",
                self.root,
                *command,
            ],
            env=self.environment,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def output(self, *command):
        """Run a program and return what it printed."""
        done = self._chroot(*command)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def negotiator_rewrites(self, log):
        """Start condor_negotiator with a log of accounts; return the log once its stamp has changed."""
        path = self.folder / "Accountantnew.log"
        path.write_bytes(log)
        self._chroot("chown", "condor:condor", str(self.inside / path.name)).check_returncode()
        command = ["chroot", self.root, "condor_negotiator", "-f"]
        with subprocess.Popen(  # noqa: S603
            command, env=self.environment, cwd="/", stderr=subprocess.DEVNULL
        ) as process:
            try:
                for _attempt in range(100):
                    time.sleep(0.1)
                    if len(path.read_bytes()) > len(log) and path.read_bytes().endswith(b"106 \n"):
                        return path.read_bytes()
            finally:
                process.kill()
        raise AssertionError((self.folder / "NegotiatorLog").read_text()[-2000:])


@contextlib.contextmanager
def real_condor():
    """Return HTCondor's programs; skip the test where they are not."""
    try:
        root = root_folder()
    except PoolUnavailableError as error:
        pytest.skip(str(error))
    folder = Path(tempfile.mkdtemp(dir=root / "tmp"))
    try:
        yield RealCondor(root, folder)
    finally:
        shutil.rmtree(folder)
