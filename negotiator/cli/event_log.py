"""The log of a long-running process: a line for each event, with time, level and fields, as text or as JSON."""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import MutableMapping
from typing import Any, Final, TextIO

import structlog

from negotiator.cli.options import LEVELS
from negotiator.cli.render import printable
from negotiator.pool.secrets import redact
from negotiator.records.text import local_time

#: The levels that are named in lines with a header.
_EMPHASIZED: Final = ("warning", "error")


def open_log(form: str, level: str, stream: TextIO | None = None, header: str = "") -> Any:
    """Return a logger that writes lines of this format and from this level on; nothing of it is global.

    Control characters are escaped and secrets are omitted: names come from ads, and users write ads.

    :param form: ``text`` or ``json``.
    :param level: ``debug``, ``info``, ``warning`` or ``error``.
    :param stream: standard error if None.
    :param header: with which lines of text begin, a pattern of ``local_time``; by default the time in UTC, and the level.
    """
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _redact,
            structlog.processors.JSONRenderer() if form == "json" else functools.partial(_line, header),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level_number(level)),
        cache_logger_on_first_use=True,
    )


def level_number(level: str) -> int:
    """Return the number of a level as ``logging`` has it."""
    return 10 * (LEVELS.index(level) + 1)


def _redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = redact(value)
    return event


def _line(header: str, _logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    """Return ``TIME LEVEL EVENT NAME=VALUE...`` in printable characters; after a header the level is there from warning on."""
    when, level = event.pop("timestamp"), event.pop("level")
    if header:
        begin = local_time(header, time.time()) + (f"{level.upper()}: " if level in _EMPHASIZED else "")
    else:
        begin = f"{when} {level:<7} "
    head = f"{begin}{event.pop('event')}"
    fields = (f"{name}={_quoted(value)}" for name, value in event.items())
    return printable(" ".join((head, *fields)))


def _quoted(value: object) -> str:
    r"""Return the value of a field, in quotes if it is empty or has a blank, ``"`` or ``\``; the last two are escaped."""
    text = str(value)
    if text and not any(mark in text for mark in ' "\\'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
