"""The engine that a configuration names: ``local``, ``processes:N`` or ``dask:ADDRESS``."""

from __future__ import annotations

import enum
import re
from typing import Final, Self

import attrs

from negotiator.errors import InvalidCallError

_MOST: Final = 256
_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls)://)?(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}", re.ASCII)


class InvalidEngineError(InvalidCallError):
    """The text names no engine."""


class EngineKind(enum.Enum):
    """Where the work of an engine is done."""

    LOCAL = "local"
    PROCESSES = "processes"
    DASK = "dask"


@attrs.frozen
class EngineChoice:
    """An engine by its kind, with the number of its processes, or the address of a Dask scheduler."""

    kind: EngineKind = EngineKind.LOCAL
    number: int = 1
    address: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the engine that a text names.

        :raises InvalidEngineError: there is none of this name.
        """
        kind, _, more = text.partition(":")
        more = more.strip()
        if text == EngineKind.LOCAL.value:
            return cls()
        if kind == EngineKind.PROCESSES.value and _is_number(more):
            return cls(EngineKind.PROCESSES, int(more))
        if kind == EngineKind.DASK.value and _ADDRESS.fullmatch(more):
            return cls(EngineKind.DASK, address=more)
        raise InvalidEngineError(
            f"expected local, processes:N with N from 1 to {_MOST}, or dask:ADDRESS such as dask:tcp://host:8786, got {text[:40]!r}"
        )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < int(text[:9]) <= _MOST


def note_of_single_cycles(text: str) -> str:
    """Return a sentence for whoever names an engine for cycles that follow each other; empty for ``local``.

    :raises InvalidEngineError: there is none of this name.
    """
    if EngineChoice.parse(text).kind is EngineKind.LOCAL:
        return ""
    return (
        f"engine {text}: this process decides cycles that follow each other by itself, workers saved no time there;"
        " engines are for replay, diff, whatif and test"
    )
