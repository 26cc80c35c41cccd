"""Runs the program without the modules and functions that Windows lacks: ``python windows_like.py run POOL``."""

import asyncio.selector_events  # noqa: F401 - it asks for sysconf where sockets have sendmsg, which Windows lacks too
import importlib.abc
import multiprocessing  # noqa: F401 - it and the following use what is removed below, when they are imported
import os
import runpy
import shutil  # noqa: F401
import signal
import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401

MODULES = frozenset(
    ["crypt", "fcntl", "grp", "nis", "pwd", "readline", "resource", "syslog", "termios", "tty"]
)
FUNCTIONS = (
    "ST_RDONLY O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK chown fchmod fchown fork forkpty fstatvfs getegid"
    " geteuid getgid getgrouplist getgroups getpgid getpgrp getuid initgroups killpg lchown mkfifo nice posix_spawn pread"
    " pwrite register_at_fork sched_getaffinity setgid setpgid setsid setuid statvfs sysconf wait3 wait4"
)
SIGNALS = (
    "ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL SIGALRM SIGCHLD SIGHUP SIGKILL SIGPIPE SIGPROF SIGQUIT SIGUSR1 SIGUSR2"
    " SIGVTALRM alarm getitimer pause pthread_sigmask setitimer siginterrupt sigtimedwait sigwait"
)


class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def remove():
    """Remove them from this process."""
    for name in MODULES:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Missing())
    for module, names in ((os, FUNCTIONS), (signal, SIGNALS)):
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)


if __name__ == "__main__":
    remove()
    sys.argv = ["negotiator", *sys.argv[1:]]
    runpy.run_module("negotiator", run_name="__main__", alter_sys=True)
