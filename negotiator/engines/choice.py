"""The engine that a configuration names: ``local``, or ``processes:N``."""

from __future__ import annotations

from typing import Final

from negotiator.cycle.engine import LOCAL, Engine
from negotiator.engines.processes import ProcessEngine
from negotiator.errors import InvalidCallError

_MOST: Final = 256


class InvalidEngineError(InvalidCallError):
    """The text names no engine."""


def engine_of(text: str) -> Engine:
    """Return the engine of a configuration.

    :raises InvalidEngineError: there is none of this name.
    """
    kind, _, number = text.partition(":")
    if kind == "local" and not number:
        return LOCAL
    number = number.strip()
    if kind == "processes" and number.isascii() and number.isdecimal() and 0 < int(number[:9]) <= _MOST:
        return ProcessEngine(int(number))
    raise InvalidEngineError(f"expected local, or processes:N with N from 1 to {_MOST}, got {text[:40]!r}")
