"""The arguments with which condor_master and administrators start a daemon.

Source: ``dc_main`` in HTCondor's ``daemon_core_main.cpp``; names may be shortened as there.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

import attrs


class ArgumentsError(Exception):
    """The command line is invalid."""


@attrs.frozen(kw_only=True)
class DaemonArguments:
    """The arguments that have an effect here.

    ``configuration`` is the file of HTCondor's configuration, ``local_name`` a name for settings of this daemon alone. The log is
    written into ``log_folder`` instead of the configured place, with ``log_suffix`` at the end of its name, or to standard error
    with ``to_terminal``.
    """

    configuration: str = ""
    local_name: str = ""
    log_folder: str = ""
    log_suffix: str = ""
    pid_file: str = ""
    to_terminal: bool = False
    version: bool = False


def parse_arguments(words: list[str]) -> DaemonArguments:
    """Return the arguments of a daemon. Those that have no effect here (``-f``, ``-p``, ``-sock``, ``-q``) are accepted.

    :raises ArgumentsError: one is unknown or lacks its value, or asks for what this program does not do.
    """
    parser = _ArgumentParser(prog="negotiator-daemon", add_help=False, allow_abbrev=False)
    parser.add_argument("-c", "-config", dest="configuration", default="")
    parser.add_argument("-local-name", dest="local_name", default="")
    parser.add_argument("-l", "-log", dest="log_folder", default="")
    parser.add_argument("-a", "-append", dest="log_suffix", default="")
    parser.add_argument("-pidfile", dest="pid_file", default="")
    parser.add_argument("-t", dest="to_terminal", action="store_true")
    parser.add_argument("-v", "-version", dest="version", action="store_true")
    without_effect = parser.add_argument_group()
    without_effect.add_argument("-f", action="store_true")
    without_effect.add_argument("-q", action="store_true")
    without_effect.add_argument("-p", "-port")
    without_effect.add_argument("-sock")
    found = vars(parser.parse_args(words))
    return DaemonArguments(**{field.name: found[field.name] for field in attrs.fields(DaemonArguments)})


class _ArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ArgumentsError(message)
