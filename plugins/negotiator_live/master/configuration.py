"""What this daemon reads of HTCondor's configuration, by ``condor_config_val``."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

import attrs

from negotiator.plugin import Ad, NegotiatorError, parse, printable
from negotiator_live.configured import SETTINGS
from negotiator_live.master.arguments import DaemonArguments
from negotiator_live.master.handover import Handover
from negotiator_live.master.log_file import LogLimit

_PROGRAM: Final = "condor_config_val"
_PATIENCE: Final = 30.0  # seconds


class ConfigurationError(Exception):
    """HTCondor's configuration cannot be read, or lacks a setting."""


@attrs.frozen(kw_only=True)
class DaemonConfiguration:
    """The settings of the daemon.

    ``bundle`` is the folder of the policy bundle, ``state`` and ``audit_log`` where the state and the audit log are. ``user`` is
    whom the daemon runs as if it is started by root: a user and a group id. ``of_pool`` are the settings that ``pool.yaml`` can
    replace, by their names.
    """

    bundle: Path
    state: Path
    audit_log: Path
    of_pool: Mapping[str, str] = attrs.field(factory=dict)
    handover: Handover = attrs.field(factory=Handover)
    user: tuple[int, int] | None = None

    @classmethod
    def read(cls, arguments: DaemonArguments) -> Self:
        """Return the settings.

        :raises ConfigurationError: ``condor_config_val`` does not run, or a setting is missing or invalid.
        """
        bundle = _value("NEGOTIATOR_BUNDLE", arguments)
        if not bundle:
            raise ConfigurationError(
                "missing NEGOTIATOR_BUNDLE: write NEGOTIATOR_BUNDLE = FOLDER, the folder of the policy bundle, into HTCondor's"
                " configuration"
            )
        spool = Path(_value("SPOOL", arguments) or ".")
        return cls(
            bundle=Path(bundle),
            state=Path(_value("NEGOTIATOR_STATE", arguments) or spool / "negotiator"),
            audit_log=Path(_value("NEGOTIATOR_AUDIT_LOG", arguments) or spool / "negotiator-audit"),
            of_pool=_settings_of_pool(arguments),
            handover=_handover(arguments),
            user=_user(_value("CONDOR_IDS", arguments)),
        )


def _handover(arguments: DaemonArguments) -> Handover:
    """Return the settings that are handed on; the variables of condor_master are not among them."""
    log = Path(_value("NEGOTIATOR_LOG", arguments) or "NegotiatorLog")
    if arguments.log_folder:
        log = Path(arguments.log_folder, log.name)
    if arguments.log_suffix:
        log = log.with_name(f"{log.name}.{arguments.log_suffix}")
    limits = ("MAX_NEGOTIATOR_LOG", "MAX_DEFAULT_LOG")
    limit = next((text for name in limits if (text := _value(name, arguments))), "10 Mb")
    try:
        LogLimit.parse(limit)
    except ValueError as error:
        raise ConfigurationError(f"MAX_NEGOTIATOR_LOG: {error}") from None
    return Handover(
        not_responding_timeout=_number(
            ("NEGOTIATOR_NOT_RESPONDING_TIMEOUT", "NOT_RESPONDING_TIMEOUT"), 3600, arguments
        ),
        shared_port_ad_file=_value("SHARED_PORT_DAEMON_AD_FILE", arguments),
        log="" if arguments.to_terminal else str(log.absolute()),
        log_limit=limit,
        logs_kept=_number(("MAX_NUM_NEGOTIATOR_LOG",), 1, arguments, least=0),
    )


def _settings_of_pool(arguments: DaemonArguments) -> dict[str, str]:
    found = {name: _value(name, arguments) for name in SETTINGS}
    found["COLLECTOR_HOST"] = found["COLLECTOR_HOST"].replace(",", " ").partition(" ")[0]
    return found


def _value(name: str, arguments: DaemonArguments) -> str:
    """Return the value of a setting; "" if it has none."""
    local = ["-local-name", arguments.local_name] if arguments.local_name else []
    try:
        done = subprocess.run(  # noqa: S603 - HTCondor's own command
            [_PROGRAM, "-subsystem", "NEGOTIATOR", *local, name],
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigurationError(f"{_PROGRAM} {name}: {error}: add its folder to PATH") from error
    if done.returncode != 0 and "Not defined" not in done.stderr + done.stdout:
        raise ConfigurationError(f"{_PROGRAM} {name}: {(done.stderr or done.stdout).strip()[:500]}")
    return done.stdout.strip() if done.returncode == 0 else ""


def _number(names: tuple[str, ...], default: int, arguments: DaemonArguments, *, least: int = 1) -> int:
    """Return the number of the first of these settings that has a value, which may be a constant expression."""
    name, text = next(((name, text) for name in names if (text := _value(name, arguments))), ("", ""))
    try:
        number = Ad([("value", parse(text))]).integer("value") if text else default
    except NegotiatorError:
        number = None
    if number is None or number < least:
        raise ConfigurationError(f"{name} must be a number from {least}, not {printable(text[:200])!r}")
    return number


def _user(ids: str) -> tuple[int, int] | None:
    """Return whom HTCondor's daemons run as (``CONDOR_IDS``, else the user condor); None if this process is not root's."""
    if os.geteuid() != 0:
        return None
    if ids:
        user, _, group = ids.partition(".")
        if not (user.isdecimal() and group.isdecimal()):
            raise ConfigurationError(f"CONDOR_IDS must be UID.GID, not {ids!r}")
        return int(user), int(group)
    try:
        entry = pwd.getpwnam("condor")
    except KeyError:
        return None
    return entry.pw_uid, entry.pw_gid
