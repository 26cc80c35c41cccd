"""The log of a long-running process: a line for each event, with time, level and fields, as text or as JSON."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from negotiator.cli.options import LEVELS
from negotiator.cli.render import printable
from negotiator.pool.secrets import redact


def open_log(form: str, level: str, stream: TextIO | None = None) -> Any:
    """Return a logger that writes lines of this format and from this level on; nothing of it is global.

    Control characters are escaped and secrets are omitted: names come from ads, and users write ads.

    :param form: ``text`` or ``json``.
    :param level: ``debug``, ``info``, ``warning`` or ``error``.
    :param stream: standard error if None.
    """
    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _redact,
            structlog.processors.JSONRenderer() if form == "json" else _line,
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


def _line(_logger: object, _method: str, event: MutableMapping[str, Any]) -> str:
    """Return ``TIME LEVEL EVENT NAME=VALUE...`` in printable characters."""
    head = f"{event.pop('timestamp')} {event.pop('level'):<7} {event.pop('event')}"
    fields = (f"{name}={_quoted(value)}" for name, value in event.items())
    return printable(" ".join((head, *fields)))


def _quoted(value: object) -> str:
    r"""Return the value of a field, in quotes if it is empty or has a blank, ``"`` or ``\``; the last two are escaped."""
    text = str(value)
    if text and not any(mark in text for mark in ' "\\'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
