"""What tools read of HTCondor's configuration and logs from a daemon: condor_config_val, condor_fetchlog and condor_who.

The values are those of ``condor_config_val`` on this host, read at the first query and again after ``condor_reconfig``. Source:
``handle_config_val``, ``handle_config`` and ``handle_fetch_log`` (``daemon_core_main.cpp``), ``put_file`` (``reli_sock.cpp``).
"""

from __future__ import annotations

import functools
import os
import re
import stat
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import attrs

from negotiator.plugin import CommandError
from negotiator_live.daemon.request import CommandHandler, CommandRequest
from negotiator_live.master.configuration import READS
from negotiator_live.master.handover import handover
from negotiator_live.versions import VERSION
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand

_PROGRAM: Final = "condor_config_val"
_PATIENCE: Final = 10.0  # seconds
_LONGEST: Final = 1_000  # characters of a name or a pattern
_SETTING: Final = re.compile(r"([A-Za-z_][^\s=]*) = (.*)")
_DETAIL: Final = re.compile(r" # (at|expanded|default): (.*)")
_DETAILS: Final = {"at": "at", "expanded": "value", "default": "default"}
_SUMMARY: Final = ".*|.summary"
_NOT_DEFINED: Final = "Not defined"
_REFUSED: Final = -1
_PLAIN: Final = 0  # the kind of log that is sent
_SENT, _NO_NAME, _CANT_OPEN, _BAD_TYPE = range(4)
_CHUNK: Final = 262_144
_EMPTY_FILE: Final = 666


@attrs.frozen
class Setting:
    """A setting: what is written, its value, where it is written, and HTCondor's default (None without one)."""

    name: str
    raw: str
    value: str
    at: str = ""
    default: str | None = None


def settings() -> Mapping[str, Setting]:
    """Return all settings by their names in upper case, as new as the bundle's; empty if condor_master did not start this process.

    :raises CommandError: ``condor_config_val`` does not run.
    """
    return _settings(READS.count)


@functools.lru_cache(maxsize=1)
def _settings(reads: int) -> Mapping[str, Setting]:
    del reads  # after another one they are read again
    return {each.name.upper(): each for each in parse_settings(_output("-dump", "-v"))}


def parse_settings(text: str) -> Iterator[Setting]:
    """Yield the settings in the output of ``condor_config_val -dump -v``: each a line, and details in the lines after it."""
    found: Setting | None = None
    for line in text.split("\n"):
        if begun := _SETTING.fullmatch(line):
            if found is not None:
                yield found
            found = Setting(begun[1], begun[2], begun[2])
        elif found is not None and (detail := _DETAIL.fullmatch(line)):
            found = attrs.evolve(found, **{_DETAILS[detail[1]]: detail[2]})
    if found is not None:
        yield found


def lookup(name: str) -> Setting | None:
    """Return the setting that a daemon of this name and kind reads: one for this daemon takes precedence over a general one."""
    received, known = handover(), settings()
    local = received.local_name if received is not None else ""
    names = (f"{local}.{name}" if local else "", f"NEGOTIATOR.{name}", name)
    return next((found for each in names if each and (found := known.get(each.upper())) is not None), None)


def config_val(request: CommandRequest) -> None:
    """Send the value of a setting; with a ``?`` it is a question about all (``condor_config_val -dump``)."""
    name = _name(request)
    channel = request.channel
    with request.computing():
        if name.startswith("?"):
            _answer(channel, name)
        elif request.command == DaemonCommand.CONFIG_VAL:
            found = lookup(name)
            channel.put_string(_NOT_DEFINED if found is None else found.value)
        else:
            _send_setting(channel, lookup(name))
    channel.end_message()


def refuse_change(request: CommandRequest) -> None:
    """Refuse to change a setting, as HTCondor's daemons do by default (``ENABLE_RUNTIME_CONFIG``)."""
    for _ in range(2):  # the name of the setting, and its new value
        request.channel.get_string()
    request.channel.end_received()
    request.channel.put_int(_REFUSED)
    request.channel.end_message()


def fetch_log(request: CommandRequest) -> None:
    """Send a log: ``NEGOTIATOR``, ``NEGOTIATOR_MATCH``, or an old one such as ``NEGOTIATOR.old``."""
    channel = request.channel
    kind, name = channel.get_int(), channel.get_string()
    channel.end_received()
    if kind != _PLAIN:
        _end_with(channel, _BAD_TYPE)
        return
    subsystem, dot, extension = name[:_LONGEST].partition(".")
    with request.computing():
        found = lookup(f"{subsystem}_LOG")
    if found is None or not found.value:
        _end_with(channel, _NO_NAME)
        return
    log = None if "/" in extension else _opened(Path(f"{found.value}{dot}{extension}"))
    if log is None or not channel.is_encrypted:  # a log goes over the network in a session with a key only
        if log is not None:
            os.close(log)
        _end_with(channel, _CANT_OPEN)
        return
    with os.fdopen(log, "rb") as opened:
        size = os.fstat(log).st_size
        for number in (_SENT, size, _CHUNK):
            channel.put_int(number)
        channel.end_message()
        while size > 0 and (chunk := opened.read(min(_CHUNK, size))):
            channel.put_bytes(chunk)
            channel.end_message()
            size -= len(chunk)
        if not opened.tell():
            channel.put_int(_EMPTY_FILE)
            channel.end_message()


def _name(request: CommandRequest) -> str:
    name = request.channel.get_string()
    request.channel.end_received()
    if len(name) > _LONGEST:
        raise CommandError(f"the name of a setting has more than {_LONGEST} characters")
    return name


def _send_setting(channel: Channel, found: Setting | None) -> None:
    """Add the value, the assignment, its place, the default, and how often it was used; only the null string if unknown."""
    if found is None:
        channel.put_null()
        return
    channel.put_string(found.value)
    channel.put_string(f"{found.name.upper()} = {found.raw}")
    channel.put_string(found.at)
    if found.default is None:
        channel.put_null()
    else:
        channel.put_string(found.default)
    channel.put_string("0")


def _answer(channel: Channel, question: str) -> None:
    """Add the answer to a question about all settings."""
    kind, _, pattern = question.partition(":")
    if kind == "?names" and pattern.startswith(_SUMMARY):
        for text in _summary():
            channel.put_string(text)
    elif kind == "?names":
        # The pattern comes from a peer: in parentheses, condor_config_val cannot read it as an option.
        names = [each.name for each in parse_settings(_output("-dump", "-v", f"({pattern or '.*'})"))]
        for name in names or [""]:
            channel.put_string(name)
    elif kind == "?stats":
        pairs = (line.partition(" = ") for line in _output("-stats").splitlines())
        numbers = {name.strip(): value.strip() for name, _, value in pairs if value.strip().isdecimal()}
        channel.put_string(numbers.get("Referenced", "0"))
        channel.put_ad({"Sorted" if name == "IsSorted" else name: text for name, text in numbers.items()})
    else:
        channel.put_string(f"!error:unsup:1: '{question}' is not supported")


def _summary() -> Iterator[str]:
    """Yield the names of settings that are written somewhere, after a text with ``#`` and the file for those of a file."""
    yield f"#NEGOTIATOR {VERSION}"
    for line in _output("-summary").splitlines():
        if line.startswith("# from "):
            yield f"#{line.removeprefix('# from ')}"
        elif found := _SETTING.fullmatch(line):
            yield found[1]


def _output(*arguments: str) -> str:
    """Return what ``condor_config_val`` prints; "" if condor_master did not start this process."""
    received = handover()
    if received is None:
        return ""
    local = ["-local-name", received.local_name] if received.local_name else []
    try:
        done = subprocess.run(  # noqa: S603 - HTCondor's own command
            [_PROGRAM, "-subsystem", "NEGOTIATOR", *local, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CommandError(f"{_PROGRAM}: {error}") from error
    return done.stdout


def _opened(path: Path) -> int | None:
    """Return a descriptor of a regular file; None if it cannot be read."""
    try:
        found = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    return None


def _end_with(channel: Channel, result: int) -> None:
    channel.put_int(result)
    channel.end_message()


QUERIES: Final[dict[DaemonCommand, CommandHandler]] = dict.fromkeys(
    (DaemonCommand.CONFIG_VAL, DaemonCommand.DC_CONFIG_VAL), config_val
)
"""The handlers of the commands that show settings; each needs READ authorization."""

CHANGES: Final[dict[DaemonCommand, CommandHandler]] = dict.fromkeys(
    (DaemonCommand.DC_CONFIG_PERSIST, DaemonCommand.DC_CONFIG_RUNTIME), refuse_change
)
"""The handlers of the commands that would change settings; each needs DAEMON authorization."""

LOGS: Final[dict[DaemonCommand, CommandHandler]] = {DaemonCommand.DC_FETCH_LOG: fetch_log}
"""The handlers of the commands that send logs; each needs ADMINISTRATOR authorization."""
