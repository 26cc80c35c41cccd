"""The static configuration of the service: what is needed to start it, apart from the policies of the bundle.

Source: "Scheduler Configuration": "simple key value pair", "All configuration to start the service must be part of this
configuration", "must exclude the queue related configuration".
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from negotiator.defaults import (
    ALL_CYCLES,
    DEFAULT_STATE,
    LOCAL_ENGINE,
    OPTION_KEYS,
    RECORD_DAYS,
    RECORD_MEGABYTES,
    STABLE_SECONDS,
    STATE_TIMEOUT,
    WEB_HOST,
    WEB_PORT,
)
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.state_location import DatabaseUrl
from negotiator.records.problem import Source

if TYPE_CHECKING:
    from negotiator.runtime.cycle_recorder import CycleRecorder


class PoolDriver(enum.StrEnum):
    """Where the service gets the ads of each cycle."""

    FILES = "files"
    LIVE = "live"


class LogFormat(enum.StrEnum):
    """The form of the lines of the log."""

    TEXT = "text"
    JSON = "json"


class LogLevel(enum.StrEnum):
    """The least level of the lines of the log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Origin(enum.StrEnum):
    """What a setting comes from; each takes precedence over those below it."""

    OPTION = "option"
    VARIABLE = "variable"
    FILE = "file"
    DEFAULT = "default"


@attrs.frozen
class SettingOrigin:
    """What a setting comes from, and where it is: the option, the variable, or the place in the file."""

    kind: Origin = Origin.DEFAULT
    place: Source = attrs.field(factory=lambda: Source(""))

    def __str__(self) -> str:
        """``--state``, ``--set name=...``, ``NEGOTIATOR_STATE``, ``negotiator.yaml:3:1`` or ``default``."""
        return str(self.place) if self.place.file else str(self.kind)


@attrs.frozen(kw_only=True)
class ServiceSettings:
    """The settings of the service, each by its key in ``negotiator.yaml``.

    ``bind_host`` and ``bind_port`` are where the tools and daemons of a live pool connect; without them the bundle decides.
    ``web_bind_host`` and ``web_bind_port`` are where HTTP requests are answered, with TLS if ``web_certificate`` and
    ``web_key`` (PEM files) are set; ``web_tokens`` has the tokens of clients; ``web_assets`` is a folder of static files. ``scheduler_acl`` replaces ``scheduleracl`` of
    the bundle unless it is None. ``pool`` are the files and folders of ads of the driver ``files``. ``watch`` reloads the
    bundle when its files changed and then were unchanged for ``stable`` seconds. ``every`` are the seconds between the
    beginnings of two cycles, None for the intervals of the bundle. ``engine`` names an engine (``engines.choice``), which decides none of these cycles. ``state_database`` has the state instead of the
    folder ``state``, and may take ``state_timeout`` seconds to answer; ``name`` is
    one of several negotiators of the pool, which have a state each in it. ``record`` is the folder of recorded cycles,
    ``record_which`` says which are (all, failures, or a number N for every Nth), ``record_megabytes`` and ``record_days`` how many are kept.
    ``origins`` has the origin of each key.
    """

    bundle: Path | None = None
    plugins_dir: tuple[Path, ...] = ()
    disable: tuple[str, ...] = ()
    scheduler_acl: str | None = None
    pool_driver: PoolDriver = attrs.field(default=PoolDriver.LIVE, converter=PoolDriver)
    pool: tuple[Path, ...] = ()
    every: float | None = None
    engine: str = LOCAL_ENGINE
    watch: bool = False
    stable: float = STABLE_SECONDS
    state: Path = DEFAULT_STATE
    state_database: DatabaseUrl | None = None
    state_timeout: float = STATE_TIMEOUT
    name: str | None = None
    audit_log: Path = CommandTargets().audit_log
    key_file: Path | None = None
    record: Path | None = None
    record_which: str = ALL_CYCLES
    record_megabytes: int = RECORD_MEGABYTES
    record_days: float = RECORD_DAYS
    bind_host: str | None = None
    bind_port: int | None = None
    web_bind_host: str = WEB_HOST
    web_bind_port: int = WEB_PORT
    web_certificate: Path | None = None
    web_key: Path | None = None
    web_tokens: Path | None = None
    web_assets: Path | None = None
    log_format: LogFormat = attrs.field(default=LogFormat.TEXT, converter=LogFormat)
    log_level: LogLevel = attrs.field(default=LogLevel.INFO, converter=LogLevel)
    origins: Mapping[str, SettingOrigin] = attrs.field(factory=dict, metadata={"key": False})

    @property
    def targets(self) -> CommandTargets:
        """The folders and files that the service works on."""
        return CommandTargets(
            bundle=self.bundle,
            plugins_dirs=self.plugins_dir,
            disable=self.disable,
            state=self.state,
            state_database=self.state_database
            and attrs.evolve(self.state_database, timeout=self.state_timeout),
            negotiator_name=self.name or "",
            audit_log=self.audit_log,
            key_file=self.key_file,
            pool=self.pool,
            scheduler_acl=self.scheduler_acl,
        )

    @property
    def recorder(self) -> CycleRecorder | None:
        """What records the cycles; None if they are not recorded."""
        from negotiator.runtime.cycle_recorder import CycleRecorder  # noqa: PLC0415 - no other command needs it

        if self.record is None:
            return None
        size, seconds = self.record_megabytes * 1_000_000, self.record_days * 86400.0
        return CycleRecorder(self.record, self.record_which, size, seconds)

    @property
    def serves_web(self) -> bool:
        """True if HTTP requests are to be answered: a host or a port for them is set."""
        wanted = (self.origins.get(key, SettingOrigin()) for key in ("web_bind_host", "web_bind_port"))
        return any(origin.kind is not Origin.DEFAULT for origin in wanted)

    @property
    def bind_address(self) -> tuple[str, int] | None:
        """The host and port for the tools and daemons of a live pool; None if the bundle decides."""
        if self.bind_host is None or self.bind_port is None:
            return None
        return self.bind_host, self.bind_port

    def origin(self, key: str) -> SettingOrigin:
        """Return the origin of a setting."""
        return self.origins.get(key, SettingOrigin())

    def place(self, key: str) -> Source:
        """Return where a setting is, or for a default the option with which it can be set."""
        place = self.origin(key).place
        return place if place.file else Source(option_of(key))


def option_of(key: str) -> str:
    """Return how a key is written on the command line: ``--state``, or ``--set name=...``."""
    return f"--{key.replace('_', '-')}" if key in OPTION_KEYS else f"--set {key}=..."


#: The key whose value may have a password, which no message may have.
URL_KEY = "state_database"
#: All keys, in the order of the documentation.
KEYS = tuple(field.name for field in attrs.fields(ServiceSettings) if field.metadata.get("key", True))
