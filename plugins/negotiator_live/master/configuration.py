"""HTCondor's configuration, as ``condor_config_val`` resolves it for this daemon.

The program that the pool itself uses knows all that decides: prefixes of the subsystem and of a local name, files and folders of
files, the environment, templates, macros.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import attrs

from negotiator.plugin import (
    Ad,
    NegotiatorError,
    PoolError,
    PoolSetting,
    Source,
    parse,
    printable,
    replace_file,
)
from negotiator_live.master.arguments import DaemonArguments
from negotiator_live.master.daemon_log import LogLimit
from negotiator_live.master.handover import Handover, handover

_PROGRAM: Final = "condor_config_val"
_SUBSYSTEM: Final = "NEGOTIATOR"
_PATIENCE: Final = 30.0  # seconds
_TRUE: Final = ("true", "t", "yes", "1")
_DEFINITION: Final = re.compile(r"(\S+) (@?=)(?: ?(.*))", re.ASCII)
_AT: Final = " # at: "
_COMMENT: Final = " #"
_END: Final = "@end"
_PLACE: Final = re.compile(r"(.*?)(?:, line (\d{1,9}).*)?")
_NOT_SET: Final = ("<Default>", "<Detected>")
_ENVIRONMENT: Final = "<Environment>"
_OWN_BUNDLE: Final = "negotiator-bundle"
#: What a pool has whose configuration names no bundle: its settings are all of its policies.
_BUNDLE: Final = """# The policies of a pool whose configuration names no bundle: its settings, which are read with condor_config_val.
# This file was written by negotiator-daemon. NEGOTIATOR_BUNDLE = FOLDER in HTCondor's configuration names another bundle.
source: htcondor
order: submitters
"""


class ConfigurationError(PoolError):
    """HTCondor's configuration cannot be read, or a setting is invalid."""


@attrs.define
class _Reads:
    """How often this process has read the pool's settings for its bundle."""

    count: int = 0


READS: Final = _Reads()


@attrs.frozen
class CondorConfiguration:
    """The settings that HTCondor's configuration has for a daemon, macros replaced, by name in lower case."""

    settings: Mapping[str, PoolSetting]

    @classmethod
    def read(cls, local_name: str = "") -> Self:
        """Return the present configuration.

        :raises ConfigurationError: ``condor_config_val`` does not run, or finds an error.
        """
        local = ["-local-name", local_name] if local_name else []
        command = [_PROGRAM, "-subsystem", _SUBSYSTEM, *local, "-dump", "-expand", "-verbose"]
        try:
            done = subprocess.run(  # noqa: S603 - HTCondor's own command
                command,
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ConfigurationError(f"{_PROGRAM} -dump: {error}: add its folder to PATH") from error
        if done.returncode != 0:
            reason = " ".join((done.stderr or done.stdout).split())[:500]
            raise ConfigurationError(f"{_PROGRAM} -dump: {printable(reason)}")
        return cls.of_dump(done.stdout, local_name)

    @classmethod
    def of_dump(cls, text: str, local_name: str = "") -> Self:
        """Return the configuration of what ``condor_config_val -dump -expand -verbose`` prints.

        A definition for the local name takes precedence over one for the subsystem, and that over one for all daemons.
        """
        found: dict[str, tuple[int, PoolSetting]] = {}
        prefixes = [f"{each.lower()}." for each in (local_name, _SUBSYSTEM) if each]
        for setting in _dumped(text):
            name, rank = setting.name, len(prefixes)
            for place, prefix in enumerate(prefixes):
                if name.lower().startswith(prefix):
                    name, rank = name[len(prefix) :], place
            before = found.get(name.lower())
            if before is None or rank <= before[0]:
                found[name.lower()] = rank, attrs.evolve(setting, name=name)
        return cls({name: setting for name, (_, setting) in found.items()})

    def value(self, name: str) -> str:
        """Return the value of a setting; "" if it has none."""
        setting = self.settings.get(name.lower())
        return "" if setting is None else setting.value

    def number(self, names: tuple[str, ...], default: int, *, least: int = 1) -> int:
        """Return the number of the first of these settings that has a value, which may be a constant expression.

        :raises ConfigurationError: it is not a number, or less than the least one.
        """
        name, text = next(((name, text) for name in names if (text := self.value(name))), ("", ""))
        try:
            number = Ad([("value", parse(text))]).integer("value") if text else default
        except NegotiatorError:
            number = None
        if number is None or number < least:
            raise ConfigurationError(f"{name} must be a number from {least}, not {printable(text[:200])!r}")
        return number

    def bundle(self) -> Path:
        """Return the folder of the policy bundle: that of NEGOTIATOR_BUNDLE, or one in the folder SPOOL."""
        named = self.value("NEGOTIATOR_BUNDLE")
        return Path(named) if named else Path(self.value("SPOOL") or ".") / _OWN_BUNDLE


def pool_settings(folder: Path, checks: bool) -> Sequence[PoolSetting] | None:  # noqa: FBT001 - as PoolSource calls it
    """Return the settings of the pool for the bundle in a folder: under condor_master, and for a check of that pool's bundle.

    :raises ConfigurationError: they cannot be read.
    """
    received = handover()
    if received is None and not checks:
        return None
    READS.count += 1
    try:
        found = CondorConfiguration.read("" if received is None else received.local_name)
    except ConfigurationError:
        if received is None:  # no pool on this host
            return None
        raise
    if received is None and not _is_same(found.bundle(), folder):
        return None
    return tuple(found.settings.values())


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _dumped(text: str) -> Iterator[PoolSetting]:
    """Yield the definitions of a dump in their order, each with its place; unset ones have an empty value."""
    name, lines, ends = "", [""], False
    for line in text.split("\n"):
        if name and line.startswith(_AT):
            yield _setting(name, "\n".join(lines), line.removeprefix(_AT))
            name = ""
        elif name:
            if not ends:
                lines.append(line)
            elif line == _END:
                ends = False
            else:
                lines.append(line.strip())
        elif not line.startswith((_COMMENT, "#")) and (found := _DEFINITION.fullmatch(line)):
            name, ends = found[1], found[2] == "@=" and found[3] == "end"
            lines = [] if ends else [found[3]]


def _setting(name: str, value: str, at: str) -> PoolSetting:
    found = _PLACE.fullmatch(at)
    file, line = (found[1], int(found[2] or 0)) if found else (at, 0)
    if file == _ENVIRONMENT:
        file = f"environment variable _CONDOR_{name}"
    return PoolSetting(name, value.strip(), Source(printable(file), line), file in _NOT_SET)


@attrs.frozen(kw_only=True)
class DaemonConfiguration:
    """The settings of the daemon.

    ``bundle`` is the folder of the policy bundle, ``state`` and ``audit_log`` where the state and the audit log are. ``user`` is
    whom the daemon runs as if it is started by root: a user and a group id. ``is_own``: the pool's configuration names no bundle.
    """

    bundle: Path
    state: Path
    audit_log: Path
    is_own: bool = False
    handover: Handover = attrs.field(factory=Handover)
    user: tuple[int, int] | None = None

    @classmethod
    def read(cls, arguments: DaemonArguments) -> Self:
        """Return the settings.

        :raises ConfigurationError: ``condor_config_val`` does not run, or a setting is invalid.
        """
        found = CondorConfiguration.read(arguments.local_name)
        spool = Path(found.value("SPOOL") or ".")
        return cls(
            bundle=found.bundle(),
            state=Path(found.value("NEGOTIATOR_STATE") or spool / "negotiator"),
            audit_log=Path(found.value("NEGOTIATOR_AUDIT_LOG") or spool / "negotiator-audit"),
            is_own=not found.value("NEGOTIATOR_BUNDLE"),
            handover=_handover(found, arguments),
            user=_user(found.value("CONDOR_IDS")),
        )

    def make_bundle(self) -> None:
        """Write the bundle of a pool whose configuration names none, unless it is there.

        :raises OSError: it cannot be written.
        """
        file = self.bundle / "pool.yaml"
        if self.is_own and not file.exists():
            self.bundle.mkdir(mode=0o755, exist_ok=True)
            replace_file(file, _BUNDLE.encode(), mode=0o644)


def _handover(found: CondorConfiguration, arguments: DaemonArguments) -> Handover:
    """Return the settings that are handed on; the variables of condor_master are not among them."""
    log = Path(found.value("NEGOTIATOR_LOG") or "NegotiatorLog")
    if arguments.log_folder:
        log = Path(arguments.log_folder, log.name)
    if arguments.log_suffix:
        log = log.with_name(f"{log.name}.{arguments.log_suffix}")
    return Handover(
        local_name=arguments.local_name,
        not_responding_timeout=found.number(
            ("NEGOTIATOR_NOT_RESPONDING_TIMEOUT", "NOT_RESPONDING_TIMEOUT"), 3600
        ),
        shared_port_ad_file=found.value("SHARED_PORT_DAEMON_AD_FILE"),
        log="" if arguments.to_terminal else str(log.absolute()),
        log_limit=_limit("NEGOTIATOR", found),
        logs_kept=found.number(("MAX_NUM_NEGOTIATOR_LOG",), 1, least=0),
        match_log=found.value("NEGOTIATOR_MATCH_LOG"),
        match_log_limit=_limit("NEGOTIATOR_MATCH", found),
        match_logs_kept=found.number(("MAX_NUM_NEGOTIATOR_MATCH_LOG",), 1, least=0),
        debug=" ".join(map(found.value, ("ALL_DEBUG", "NEGOTIATOR_DEBUG"))).strip(),
        debug_time_format=found.value("DEBUG_TIME_FORMAT"),
        logs_use_timestamp=found.value("LOGS_USE_TIMESTAMP").lower() in _TRUE,
        host=found.value("FULL_HOSTNAME"),
        name=found.value("NEGOTIATOR_NAME"),
    )


def _limit(log: str, found: CondorConfiguration) -> str:
    """Return when a log is replaced: a text that ``LogLimit.parse`` understands."""
    names = (f"MAX_{log}_LOG", "MAX_DEFAULT_LOG")
    limit = next((text for name in names if (text := found.value(name))), "10 Mb")
    try:
        LogLimit.parse(limit)
    except ValueError as error:
        raise ConfigurationError(f"{names[0]}: {error}") from None
    return limit


def _user(ids: str) -> tuple[int, int] | None:
    """Return whom HTCondor's daemons run as (``CONDOR_IDS``, else the user condor); None if this process is not root's."""
    if os.geteuid() != 0:
        return None
    if ids:
        user, _, group = ids.partition(".")
        if not (user.isdecimal() and group.isdecimal()):
            raise ConfigurationError(f"CONDOR_IDS must be UID.GID, not {ids!r}")
        return int(user), int(group)
    import pwd  # noqa: PLC0415 - missing on Windows

    try:
        entry = pwd.getpwnam("condor")
    except KeyError:
        return None
    return entry.pw_uid, entry.pw_gid
