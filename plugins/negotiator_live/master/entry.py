"""The program ``negotiator-daemon``: prepares a process as condor_master expects it, which then runs ``negotiator serve``."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import sys
from pathlib import Path
from typing import Final

import attrs

from negotiator_live.master.arguments import ArgumentsError, DaemonArguments, parse_arguments
from negotiator_live.master.configuration import ConfigurationError, DaemonConfiguration
from negotiator_live.master.daemon_log import DaemonLog, LogCategory, LogFile, LogForm, banner
from negotiator_live.master.inheritance import CommandSocket, take_variables
from negotiator_live.versions import PLATFORM, VERSION

_INVALID_CALL: Final = 2
_FIRST_FILE: Final = 3  # after standard input, output and error


def main() -> None:
    """Run ``negotiator serve`` with the settings of HTCondor's configuration, in this process."""
    try:
        arguments = parse_arguments(sys.argv[1:])
        if arguments.version:
            sys.stdout.write(f"{VERSION}\n{PLATFORM}\n")
            return
        if arguments.configuration:
            os.environ["CONDOR_CONFIG"] = arguments.configuration
        configuration = DaemonConfiguration.read(arguments)
        _prepare(arguments, configuration)
    except (ArgumentsError, ConfigurationError, KeyError, OSError) as error:
        sys.stderr.write(f"negotiator-daemon: {error}\n")
        sys.exit(_INVALID_CALL)
    os.execv(sys.executable, command(configuration))  # noqa: S606 - this program


def command(configuration: DaemonConfiguration) -> list[str]:
    """Return the command that serves the pool."""
    folders = [
        *("--bundle", str(configuration.bundle)),
        *("--state", str(configuration.state)),
        *("--audit-log", str(configuration.audit_log)),
    ]
    # The bundle that the pool's configuration names is meant, whichever the state had before.
    changes = [] if configuration.is_own else ["--change-bundle"]
    # -P: no module of the present folder is loaded in place of this program's.
    header = LogForm.of(configuration.handover).header(LogCategory.ALWAYS)
    return [
        *(sys.executable, "-P", "-m", "negotiator", "serve", *folders, *changes),
        *("--log-header", header, "--end-with-parent"),
    ]


def _prepare(arguments: DaemonArguments, configuration: DaemonConfiguration) -> None:
    """Become HTCondor's user, open the log, and leave the settings of the pool to the next program."""
    signal.pthread_sigmask(
        signal.SIG_SETMASK, ()
    )  # HTCondor's daemons block almost all, and children inherit that
    if arguments.pid_file:
        Path(arguments.pid_file).write_text(f"{os.getpid()}\n", encoding="ascii")
    if configuration.user is not None:
        user, group = configuration.user
        os.setgroups([group])
        os.setgid(group)
        os.setuid(user)
        os.environ["HOME"] = pwd.getpwuid(user).pw_dir
    if configuration.handover.log:
        LogFile.of(configuration.handover).begin()
    log = DaemonLog(LogForm.of(configuration.handover))
    program = shutil.which(sys.argv[0]) or sys.argv[0]
    lines = banner(program, arguments.local_name)
    log.write_all((LogCategory.ALWAYS, line) for line in lines)
    inherited, private = take_variables(os.environ)
    commands = CommandSocket.parse(inherited)
    _close_all_but([commands.descriptor] if commands is not None else [])
    if commands is not None:
        os.set_inheritable(commands.descriptor, True)
    handover = attrs.evolve(configuration.handover, inherited=inherited, private=private, program=program)
    handover.send(os.environ)
    configuration.make_bundle()


def _close_all_but(kept: list[int]) -> None:
    """Close all open files and sockets but the standard ones and these."""
    first = _FIRST_FILE
    for each in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        os.closerange(first, each)
        first = each + 1
