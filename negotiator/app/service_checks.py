"""Checks the settings of the service: each value, those that need another one, the files that they name, and who reaches its addresses."""

from __future__ import annotations

import ipaddress
import os
import re
import ssl
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from negotiator.app.service_settings import URL_KEY, Origin, PoolDriver, ServiceSettings
from negotiator.defaults import ALL_CYCLES, FAILED_CYCLES, WEB_PORT
from negotiator.engines.choice import EngineChoice, InvalidEngineError
from negotiator.hooks.state_location import DatabaseUrl, InvalidDatabaseUrlError
from negotiator.queues.acl import HINT, Acl, AclError
from negotiator.records import Problem, Severity
from negotiator.records.text import printable

_LEAST_TIMEOUT: Final = 1.0
#: The name of a negotiator is a part of that of its schema in the database, which has at most 63 bytes.
_NAME: Final = re.compile(r"[a-z][a-z0-9_.-]{0,29}", re.ASCII)
_LAST_PORT: Final = 65_535
_HOST: Final = re.compile(r"[A-Za-z0-9_.-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*", re.ASCII)
#: The keys with values of options that may be invalid by themselves.
_CHECKED: Final = (
    *("bind_host", "bind_port", "web_bind_host", "web_bind_port"),
    *("scheduler_acl", "record_which", "engine", "name"),
)


def is_loopback(host: str) -> bool:
    """True if a name or an address is that of the loopback interface."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


#: A message and a hint.
_Fault = tuple[str, str]


def value_problem(key: str, value: Any) -> tuple[str, str] | None:
    """Return what is wrong with the value of a key by itself, and a hint; None if nothing is."""
    if key.endswith("_port"):
        return (
            None
            if 0 <= value <= _LAST_PORT
            else (f"{value} is not a port", "write 0 to 65535; 0 is any free one")
        )
    if key.endswith("_host"):
        hint = "write a name or an address, such as 127.0.0.1; 0.0.0.0 is all addresses of this host"
        return None if _HOST.fullmatch(value) else (f"invalid host {printable(value[:80])!r}", hint)
    if key == URL_KEY:
        return _of_database(value)
    if key == "state_timeout":
        return (
            None
            if value >= _LEAST_TIMEOUT
            else (f"expected at least {_LEAST_TIMEOUT} seconds, got {value:g}", "")
        )
    if key == "engine":
        return _of_engine(value)
    if key == "name":
        return _of_name(value)
    if key.startswith("record_"):
        return _of_recording(key, value)
    if key in {"stable", "every"}:
        return None if value >= 0 else (f"expected a number of seconds from 0 on, got {value:g}", "")
    return _of_acl(value) if key == "scheduler_acl" else None


def _of_recording(key: str, value: Any) -> _Fault | None:
    if key == "record_which":
        words = {ALL_CYCLES, FAILED_CYCLES}
        is_valid = value in words or (value.isascii() and value.isdecimal() and 0 < int(value) < 10**9)
        return (
            None
            if is_valid
            else (f"invalid {printable(value[:40])!r}", "write all, failures or a number from 1 on")
        )
    return None if value > 0 else (f"expected a number above 0, got {value:g}", "")


def _of_engine(text: str) -> _Fault | None:
    try:
        EngineChoice.parse(text)
    except InvalidEngineError as error:
        return str(error), ""
    return None


def _of_name(text: str) -> _Fault | None:
    hint = "write a lower-case letter, then up to 29 lower-case letters, digits and characters of _ . -"
    return None if _NAME.fullmatch(text) else (f"invalid name {printable(text[:40])!r}", hint)


def _of_database(text: str) -> _Fault | None:
    try:
        DatabaseUrl(text)
    except InvalidDatabaseUrlError as error:
        return str(error), ""
    return None


def _of_acl(text: str) -> _Fault | None:
    try:
        acl = Acl.parse(text)
    except AclError as error:
        return str(error), HINT
    if acl.ignored:
        return f"invalid names of users or groups: {', '.join(acl.ignored[:5])}", HINT
    return None


def check_settings(settings: ServiceSettings, invalid: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what prevents the service from starting with its settings, each at the origin of a key.

    :param invalid: keys whose values are reported already.
    """
    yield from _problems(settings, _faults(settings, invalid), invalid)


def check_pages(settings: ServiceSettings, invalid: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what prevents the pages from being served without cycles, each at the origin of a key.

    :param invalid: keys whose values are reported already.
    """
    yield from _problems(settings, _faults_of_pages(settings), invalid)


def _problems(
    settings: ServiceSettings, faults: Iterator[tuple[str, _Fault]], invalid: Collection[str]
) -> Iterator[Problem]:
    for key, (message, hint) in faults:
        if key not in invalid:
            yield Problem(
                Severity.ERROR, settings.place(key), f"{key}: {message}", hint, _excerpt(settings, key)
            )


def _faults_of_pages(settings: ServiceSettings) -> Iterator[tuple[str, _Fault]]:
    yield from _of_values(settings, ("scheduler_acl", "name", "web_bind_host"))
    needed = {"bundle", "web_assets", "web_tokens", "web_certificate", "web_key"}
    yield from (fault for fault in _of_folders(settings) if fault[0] in needed)


def _of_values(settings: ServiceSettings, keys: Iterable[str]) -> Iterator[tuple[str, _Fault]]:
    """Yield the keys whose values are invalid by themselves."""
    for key in keys:
        value = getattr(settings, key)
        fault = None if value is None else value_problem(key, value)
        if fault is not None:
            yield key, fault


def _excerpt(settings: ServiceSettings, key: str) -> str:
    """Return the line of a key in the file, for the caret below it."""
    place = settings.place(key)
    if not place.line or key == URL_KEY:
        return ""
    try:
        return Path(place.file).read_text("utf-8").splitlines()[place.line - 1]
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


def _faults(settings: ServiceSettings, invalid: Collection[str]) -> Iterator[tuple[str, _Fault]]:
    yield from _of_values(settings, _CHECKED)
    yield from _of_pairs(settings, invalid)
    if settings.name is not None and settings.state_database is None and URL_KEY not in invalid:
        hint = "several negotiators of a pool share a database: see docs/several-negotiators.md"
        yield "name", ("state_database is missing", hint)
    yield from _of_driver(settings, invalid)
    yield from _of_folders(settings)
    yield from _of_web(settings, invalid)
    yield from _of_tls(settings)
    yield from _of_password(settings)


def _of_pairs(settings: ServiceSettings, invalid: Collection[str]) -> Iterator[tuple[str, _Fault]]:
    """Yield the keys whose partner is missing."""
    for one, other, hint in (
        ("web_certificate", "web_key", "name the file with the private key of the certificate"),
        ("web_key", "web_certificate", "name the file with the certificate of the key"),
        ("bind_port", "bind_host", "write bind_host: 0.0.0.0 for all addresses of this host"),
        ("bind_host", "bind_port", "write bind_port: 9614, or another port"),
    ):
        if getattr(settings, one) is not None and getattr(settings, other) is None and other not in invalid:
            yield one, (f"{other} is missing", hint)


def _of_driver(settings: ServiceSettings, invalid: Collection[str]) -> Iterator[tuple[str, _Fault]]:
    """Yield the keys that the pool driver lacks, and those that it does not use."""
    if "pool_driver" in invalid:
        return
    if settings.pool_driver is PoolDriver.LIVE:
        # A variable may be meant for other commands.
        if settings.pool and settings.origin("pool").kind is not Origin.VARIABLE:
            yield "pool", ("has no effect with pool_driver: live", "write pool_driver: files, or remove it")
        return
    if not settings.pool and "pool" not in invalid:
        yield "pool_driver", ("pool is missing: which files or folders have the ads?", "write pool: [FOLDER]")
    if settings.bind_port is not None:
        hint = "remove it: tools and schedds connect to live pools alone"
        yield "bind_port", ("has no effect with pool_driver: files", hint)


def _of_folders(settings: ServiceSettings) -> Iterator[tuple[str, _Fault]]:
    """Yield the keys with files and folders that are missing, or that this user may not read."""
    folders = [("bundle", settings.bundle), ("web_assets", settings.web_assets)]
    folders += [("plugins_dir", folder) for folder in settings.plugins_dir]
    files = [
        (key, getattr(settings, key)) for key in ("key_file", "web_certificate", "web_key", "web_tokens")
    ]
    ads = settings.pool if settings.pool_driver is PoolDriver.FILES else ()
    for key, path in (*folders, *files, *(("pool", path) for path in ads)):
        why = "" if path is None else _unreadable(path, folder=(key, path) in folders, either=key == "pool")
        if why:
            yield key, (f"{printable(str(path))}: {why}", "")


def _unreadable(path: Path, *, folder: bool, either: bool) -> str:
    """Return why a file or folder cannot be read; empty if it can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if folder and not stat.S_ISDIR(mode):
        return "not a folder"
    if not (folder or either or stat.S_ISREG(mode)):
        return "not a regular file"
    return "" if os.access(path, os.R_OK) else "cannot be read: Permission denied"


def _of_web(settings: ServiceSettings, invalid: Collection[str]) -> Iterator[tuple[str, _Fault]]:
    """Yield the web keys without effect, and the address that needs more of them."""
    if not settings.serves_web:
        for key in ("web_certificate", "web_key", "web_tokens", "web_assets"):
            # A variable may be meant for ``negotiator serve --pages``, and an invalid address is reported.
            is_variable = settings.origin(key).kind is Origin.VARIABLE
            if getattr(settings, key) is not None and not is_variable and "web_bind_port" not in invalid:
                yield (
                    key,
                    (
                        "has no effect without web_bind_host or web_bind_port",
                        f"write web_bind_port: {WEB_PORT}",
                    ),
                )
    elif not is_loopback(settings.web_bind_host):
        missing = [
            key
            for key in ("web_tokens", "web_certificate")
            if getattr(settings, key) is None and key not in invalid
        ]
        if missing:
            hint = "on other interfaces than the loopback one every request needs a token and encryption"
            yield "web_bind_host", (f"{' and '.join(missing)} missing", f"{hint}; or write 127.0.0.1")


def _of_tls(settings: ServiceSettings) -> Iterator[tuple[str, _Fault]]:
    """Yield what is wrong with the certificate and its key; no message has any of their contents."""
    certificate, key = settings.web_certificate, settings.web_key
    if key is None or certificate is None:
        return
    if any(_unreadable(each, folder=False, either=False) for each in (certificate, key)):
        return
    if key.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        yield "web_key", (f"{printable(str(key))}: every user may read or write this key", "chmod o= FILE")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, _no_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        message = f"cannot be used with {printable(str(key))}: {_tls_reason(error)}"
        yield "web_certificate", (message, "both must be PEM files, the key without a password")


def _of_password(settings: ServiceSettings) -> Iterator[tuple[str, _Fault]]:
    """Yield a password in a file that every user may read."""
    database, file = settings.state_database, settings.place(URL_KEY).file
    if database is None or not database.has_password or settings.origin(URL_KEY).kind is not Origin.FILE:
        return
    with suppress(OSError):
        if Path(file).stat().st_mode & stat.S_IROTH:
            hint = "chmod o= FILE; or write the password into ~/.pgpass of the user of the service"
            yield URL_KEY, ("every user may read the password in this file", hint)


def _tls_reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    if reason == "KEY_VALUES_MISMATCH":
        return "the key belongs to another certificate"
    return "one of them is not a PEM file of its kind" if isinstance(error, ssl.SSLError) else str(error)


def _no_password() -> str:
    raise ValueError("the key has a password")
