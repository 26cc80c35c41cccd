"""The process that answers HTTP requests for ``negotiator serve``: it never slows a cycle by holding its interpreter, and ends with the one that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator.app.service_settings import PoolDriver, ServiceSettings
from negotiator.defaults import OPTION_KEYS
from negotiator.hooks.command_options import NAME, STATE_DATABASE

_INTERVAL: Final = 1.0  # seconds
#: The settings that the process gets on its command line, beside lists.
_KEYS: Final = (
    *("bundle", "state", "audit_log", "key_file", "scheduler_acl", "log_format", "log_level"),
    *("web_bind_host", "web_bind_port", "web_certificate", "web_key", "web_tokens", "web_assets"),
)
_AGAIN: Final = 30.0  # seconds until it is started again
_PATIENCE: Final = 10.0  # seconds that it has to end
_NICE: Final = 10  # how much later than a cycle it has the processor: a tenth of it if both want all


def end_with_parent() -> None:
    """Send SIGTERM to this process once its parent has ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_INTERVAL)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@contextmanager
def web_process(
    settings: ServiceSettings, started: Callable[[str], None], ended: Callable[[str], None]
) -> Iterator[None]:
    """Answer HTTP requests while the block runs, if the settings name a port or a host for it.

    :param started: called with each line that the process prints: its address.
    :param ended: called with a sentence each time that it has ended by itself; it is then started again.
    """
    if not settings.serves_web:
        yield
        return
    process = _WebProcess(_command(settings), _environment(settings), started, ended)
    process.thread.start()
    try:
        yield
    finally:
        process.stop()


@attrs.define(eq=False)
class _WebProcess:
    command: list[str]
    environment: Mapping[str, str]
    started: Callable[[str], None]
    ended: Callable[[str], None]
    thread: threading.Thread = attrs.field(init=False)
    _stopped: threading.Event = attrs.field(factory=threading.Event, init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)
    _running: subprocess.Popen[str] | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.thread = threading.Thread(target=self._run, name="web", daemon=True)

    def _run(self) -> None:
        """Start the process again whenever it has ended."""
        while (process := self._start()) is not None:
            for line in process.stdout or ():
                self.started(line.rstrip("\n"))
            code = process.wait()
            if self._stopped.is_set():
                return
            self.ended(
                f"the HTTP interface ended with exit code {code}; it is started again in {_AGAIN:.0f} s"
            )
            self._stopped.wait(_AGAIN)

    def _start(self) -> subprocess.Popen[str] | None:
        """Start the process; None if it is no longer wanted."""
        with self._lock:
            if self._stopped.is_set():
                return None
            self._running = subprocess.Popen(  # noqa: S603 - this program
                self.command,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is for the negotiator, which ends this process
            )
            _give_way(self._running.pid)
            return self._running

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._stopped.set()
            process = self._running
        if process is not None:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
        self.thread.join()


def _give_way(process: int) -> None:
    """Let a process that has just begun have the processor after this one: readers must not slow a cycle.

    Linux shares processors among sessions first (sched(7), autogroups): a session has a value of its own.
    """
    with suppress(OSError):  # it has ended
        os.setpriority(os.PRIO_PROCESS, process, os.getpriority(os.PRIO_PROCESS, 0) + _NICE)
    with suppress(OSError):  # the kernel has none
        Path(f"/proc/{process}/autogroup").write_text(f"{_NICE}", "ascii")


def _command(settings: ServiceSettings) -> list[str]:
    """Return the command: settings are options, so that neither a file nor another variable changes them."""
    command = [sys.executable, "-m", "negotiator", "serve", "--pages", "--end-with-parent"]
    values = ((key, getattr(settings, key)) for key in _KEYS)
    command += [_argument(key, value) for key, value in values if value is not None]
    command += [f"--plugins-dir={path}" for path in settings.plugins_dir]
    command += [f"--disable={plugin}" for plugin in settings.disable]
    if settings.pool_driver is PoolDriver.FILES:
        command += [f"--pool={path}" for path in settings.pool]
    return command


def _argument(key: str, value: Any) -> str:
    return f"--{key.replace('_', '-')}={value}" if key in OPTION_KEYS else f"--set={key}={value}"


def _environment(settings: ServiceSettings) -> dict[str, str]:
    names = {f"NEGOTIATOR_{key.upper()}" for key in attrs.asdict(settings, recurse=False)}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    # Everybody may read the command line of a process, its owner alone the environment.
    database = {} if settings.state_database is None else {STATE_DATABASE: settings.state_database.secret}
    named = {} if settings.name is None else {NAME: settings.name}
    return kept | database | named | {"NEGOTIATOR_CONFIG": "", "PYTHONUNBUFFERED": "1"}
