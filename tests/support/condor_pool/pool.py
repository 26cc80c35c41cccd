"""A running pool: commands in its root folder, its processes and its logs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import attrs

from condor_pool.errors import PoolUnavailableError
from condor_pool.root_folder import root_folder
from condor_pool.settings import LOCAL, PoolSettings

USERS: Final = ("tester", "ann", "bob", "carol")
"""Ordinary users of the pool; jobs are theirs, since schedds refuse those of root."""

_SCRIPT: Final = Path(__file__).with_name("start.sh")
_PATIENCE: Final = 1800  # seconds for one command
_TRIES: Final = 3
_START: Final = 60.0  # seconds until the daemons are in the collector
_REMOVAL: Final = 20.0  # seconds until removed jobs have left
_CALM: Final = 3
_BETWEEN: Final = 0.4
_PAUSE: Final = 0.1


@attrs.frozen
class CondorPool:
    """A pool that runs; ``master`` is the process id of condor_master, ``port`` that of the collector on 127.0.0.1."""

    master: int
    port: int

    @property
    def root(self) -> Path:
        """The root folder of the pool, as long as it runs."""
        return Path("/proc", str(self.master), "root")

    def inside(self, who: str, *command: str, check: bool = True) -> str:
        """Run a command in the root folder; return what it prints.

        :param who: ``run`` for root, ``user`` for tester, or a name of ``USERS``.
        :raises PoolUnavailableError: it fails, unless ``check`` is False.
        """
        user = {"run": "root", "user": "tester"}.get(who, who)
        home = "/root" if user == "root" else f"/home/{user}"
        environment = {"HOME": home, "USER": user, "PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "TZ": "UTC"}
        whole = ["chroot", f"--userspec={user}:", str(self.root), *command]
        try:
            done = subprocess.run(  # noqa: S603 - commands of tests
                whole, capture_output=True, text=True, timeout=_PATIENCE, check=False, env=environment
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PoolUnavailableError(f"{' '.join(command)}: {error}") from error
        if check and done.returncode != 0:
            words = (done.stderr or done.stdout).strip()[-300:]
            raise PoolUnavailableError(f"{' '.join(command)}: exit code {done.returncode}: {words}")
        return done.stdout

    def submit(self, text: str, user: str = "tester") -> str:
        """Submit jobs of a user; return the number of their cluster."""
        file = self.root / "tmp" / f"{user}.sub"
        file.write_text(text)
        return self.inside(user, "condor_submit", "-terse", f"/tmp/{file.name}").split(".")[0]  # noqa: S108 - in the root folder

    def remove_jobs(self) -> None:
        """Remove all jobs, and wait until no slot is claimed: until three queries agree, since ads lag behind."""
        busy = ("condor_status", "-constraint", 'State == "Claimed" || State == "Preempting"', "-af", "Name")
        end, calm = time.monotonic() + _REMOVAL, 0
        while calm < _CALM:
            self.inside("run", "condor_rm", "-all", check=False)
            is_busy = self.inside("run", "condor_q", "-all", "-af", "ProcId") or self.inside("run", *busy)
            calm = 0 if is_busy else calm + 1
            if time.monotonic() > end:  # not before: the claims of jobs that begin to run would remain
                self.inside("run", "condor_rm", "-forcex", "-all", check=False)
                return
            time.sleep(_BETWEEN)

    def version(self) -> str:
        """Return the version of HTCondor."""
        return self.inside("run", "condor_version").split()[1]

    def log(self, name: str) -> str:
        """Return the log of a daemon, such as ``SchedLog``."""
        path = self.root / LOCAL / "log" / name
        return path.read_text(errors="replace") if path.exists() else ""

    def process(self, program: str) -> int:
        """Return the process id of a daemon that condor_master has started, such as ``condor_schedd``.

        :raises PoolUnavailableError: it does not run.
        """
        for child in _children(self.master):
            if _program(child) == program:
                return child
        raise PoolUnavailableError(f"{program} does not run")

    def kill(self, program: str) -> None:
        """End a daemon as ``kill -9`` does; condor_master starts it again."""
        os.kill(self.process(program), signal.SIGKILL)


@contextmanager
def condor_pool(settings: PoolSettings | None = None, port: int = 0) -> Iterator[CondorPool]:
    """Start a pool, and end it and all its processes afterwards.

    :param port: of the collector; 0 for one that is free.
    :raises PoolUnavailableError: something is missing, or the pool does not start.
    """
    with ExitStack() as stack:
        yield _entered(stack, settings or PoolSettings(), port)


def _entered(stack: ExitStack, settings: PoolSettings, port: int, tries: int = _TRIES) -> CondorPool:
    """Start a pool that ends with a stack; with another free port if another program took the first one meanwhile."""
    try:
        return stack.enter_context(_pool(settings, port))
    except PoolUnavailableError as error:
        if port or tries == 1 or "already in use" not in str(error):
            raise
    return _entered(stack, settings, port, tries - 1)


@contextmanager
def _pool(settings: PoolSettings, port: int) -> Iterator[CondorPool]:
    root = root_folder()
    with tempfile.TemporaryDirectory(prefix="condor-pool-") as folder:
        place, output = Path(folder, "root"), Path(folder, "output")
        place.mkdir()
        configuration = Path(folder, "condor_config")
        port = port or _free_port()
        configuration.write_text(settings.text(port))
        # The pool ends with this process, however that ends.
        command = ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child"]
        arguments = [str(_SCRIPT), str(root), str(place), str(configuration), *USERS]
        with (
            output.open("w") as file,
            subprocess.Popen(  # noqa: S603 - a script of this folder
                [*command, "sh", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, "FOLDERS": "\n".join(settings.folders)},
            ) as process,
        ):
            try:
                pool = _started(process, port, output)
                yield pool
            finally:
                process.kill()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _started(process: subprocess.Popen[bytes], port: int, output: Path) -> CondorPool:
    """Return the pool once the daemons that its configuration names are in the collector."""
    end, pool = time.monotonic() + _START, None
    while time.monotonic() < end and process.poll() is None:
        time.sleep(_PAUSE)
        found = [child for first in _children(process.pid) for child in _children(first)]
        master = next((each for each in found if _program(each) == "condor_master"), None)
        pool = CondorPool(master, port) if master is not None else None
        if pool is not None and _is_complete(pool):
            return pool
    log = pool.log("MasterLog")[-2000:] if pool is not None and process.poll() is None else ""
    raise PoolUnavailableError(f"the pool did not start: {output.read_text().strip()[-500:]} {log}".strip())


def _is_complete(pool: CondorPool) -> bool:
    """True if the schedd and the startd, where the pool has them, are in the collector."""
    try:
        found = pool.inside("run", "condor_status", "-any", "-af", "MyType").split()
        daemons = pool.inside("run", "condor_config_val", "DAEMON_LIST").split()
    except PoolUnavailableError:
        return False
    expected = {"SCHEDD": "Scheduler", "STARTD": "Machine"}
    return all(expected[each] in found for each in daemons if each in expected)


def _children(process: int) -> list[int]:
    try:
        text = Path("/proc", str(process), "task", str(process), "children").read_text()
    except OSError:  # it has ended
        return []
    return [int(each) for each in text.split()]


def _program(process: int) -> str:
    """Return the name of the program that a process runs; empty if it has ended."""
    try:
        words = Path("/proc", str(process), "cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return words[0].decode(errors="replace").rpartition("/")[2]
