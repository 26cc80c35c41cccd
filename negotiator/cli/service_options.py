"""The options of the commands that take the settings of the service: ``serve`` and ``status``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import click

from negotiator.cli import options
from negotiator.cli.cycle_options import Seconds
from negotiator.cli.service_command import SettingKey, SettingOption, set_option
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
from negotiator.hooks.command_options import ANY_PATH, service_file_option, target_option

DRIVERS: Final = ("files", "live")
_PORT: Final = click.IntRange(0, 65_535)
_POOL: Final[dict[str, Any]] = {"help": "With pool_driver=files: file or folder of ads; may be repeated."}
_STATE: Final[dict[str, Any]] = {
    "default": DEFAULT_STATE,
    "show_default": True,
    "help": "Folder that saves queues, applications and accounts.",
}


def service_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a ``ServiceCommand`` an option or a key of ``--set`` for each setting of the service, and the file that has them."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def _setting(
    name: str, text: str, kind: Any = str, *flags: str, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option of a key, or what takes it from ``--set``; it is also in the environment."""
    return click.option(
        *(flags or (f"--{name.replace('_', '-')}",)),
        name,
        cls=SettingOption if name in OPTION_KEYS else SettingKey,
        type=kind,
        envvar=f"NEGOTIATOR_{name.upper()}",
        show_envvar=True,
        help=text,
        **more,
    )


_target = partial(target_option, cls=SettingOption)


def _default(value: Any) -> dict[str, Any]:
    return {"default": value, "show_default": True}


_SETTINGS: Final = (
    service_file_option,
    set_option,
    _target("bundle", short=True, type=ANY_PATH),
    _target("plugins_dirs"),
    _target("disable"),
    _target("scheduler_acl", cls=SettingKey, hidden=False),
    _setting(
        "pool_driver",
        "Where the ads of each cycle are: in files, or at the live pool of the bundle.",
        click.Choice(DRIVERS),
        **_default("live"),
    ),
    _target("pool", **_POOL),
    _setting(
        "every",
        "Time between the beginnings of two cycles.  [default: by NEGOTIATOR_INTERVAL and NEGOTIATOR_CYCLE_DELAY]",
        Seconds(min=0),
        metavar="SECONDS",
    ),
    _setting(
        "engine",
        "As of replay and diff: local, processes:N or dask:ADDRESS; single cycles are decided in this process whatever it says.",
        metavar="ENGINE",
        **_default(LOCAL_ENGINE),
    ),
    _setting(
        "watch",
        "Reload the bundle between two cycles when its files change.",
        bool,
        "--watch/--no-watch",
        default=False,
    ),
    _setting(
        "stable",
        "With --watch: how long changed files must stay unchanged before they are read.",
        Seconds(min=0),
        metavar="SECONDS",
        **_default(STABLE_SECONDS),
    ),
    _target("state", **_STATE),
    _target("state_database"),
    _setting(
        "state_timeout",
        "With a database: how long it may take to answer, and a leader may be silent.",
        Seconds(min=1),
        metavar="SECONDS",
        **_default(STATE_TIMEOUT),
    ),
    _setting(
        "name",
        "With a database: the name of one of several negotiators of the pool, which have a state each.",
        metavar="NAME",
    ),
    _target("audit_log"),
    _target("key_file"),
    _setting("record", "Folder to record cycles in (negotiator replay).", ANY_PATH, metavar="DIR"),
    _setting(
        "record_which",
        "With record: all, failures (a plugin failed or a time limit was reached), or a number N for every Nth cycle.",
        metavar="WHICH",
        **_default(ALL_CYCLES),
    ),
    _setting(
        "record_megabytes",
        "With record: how much is kept; the oldest cycles are removed.",
        click.IntRange(1),
        metavar="NUMBER",
        **_default(RECORD_MEGABYTES),
    ),
    _setting(
        "record_days",
        "With record: how long cycles are kept.",
        click.FloatRange(0, min_open=True),
        metavar="NUMBER",
        **_default(RECORD_DAYS),
    ),
    _setting(
        "bind_host",
        "Address at which tools and schedds of a live pool connect.  [default: by the bundle]",
        metavar="HOST",
    ),
    _setting("bind_port", "Port at this address.  [default: by the bundle]", _PORT, metavar="PORT"),
    _setting("web_bind_host", "Address that answers HTTP requests.", metavar="HOST", **_default(WEB_HOST)),
    _setting(
        "web_bind_port",
        "Port that answers HTTP requests; 0 is any free one.",
        _PORT,
        metavar="PORT",
        **_default(WEB_PORT),
    ),
    _setting("web_certificate", "Certificate of the web port, a PEM file.", ANY_PATH, metavar="FILE"),
    _setting("web_key", "Private key of the certificate, a PEM file.", ANY_PATH, metavar="FILE"),
    _setting(
        "web_tokens",
        "Tokens of the clients of the web port (negotiator admin token).",
        ANY_PATH,
        metavar="FILE",
    ),
    _setting(
        "web_assets",
        "Folder of static files that the web port serves too, as YuniKorn's web UI.",
        ANY_PATH,
        metavar="DIR",
    ),
    _setting(
        "log_format",
        "The form of the lines on standard error.",
        click.Choice(options.FORMATS),
        **_default(options.FORMATS[0]),
    ),
    _setting(
        "log_level",
        "Print events of this level and above.",
        click.Choice(options.LEVELS),
        **_default("info"),
    ),
)
