"""What comes back from asking the plugins: stamped records, failures, and how each plugin fares."""

from __future__ import annotations

import enum
from typing import Generic, TypeVar

import attrs

from negotiator.records.text import printable

T = TypeVar("T")


def clean(text: str, limit: int) -> str:
    """A text that a plugin chose as one printable line of bounded length."""
    return printable(" ".join(text[: 4 * limit].split()))[:limit]


@attrs.frozen
class Attributed(Generic[T]):
    """A record, and the plugin it came from; the stamp is the guard's, a plugin has no say in it."""

    record: T
    plugin: str
    version: str


@attrs.frozen
class HookFailure:
    """One implementation that could not be asked, or whose answer was no answer."""

    plugin: str
    version: str
    hook: str
    message: str

    def __str__(self) -> str:
        """``plugin maintenance 1.2, hook negotiator_filter_slots: ValueError: no such calendar``, one line."""
        return f"plugin {self.plugin} {self.version}, hook {self.hook}: {self.message}"


@attrs.frozen
class Answers(Generic[T]):
    """All records of all plugins, in the order in which they were asked, and the failures beside them."""

    records: tuple[Attributed[T], ...]
    failures: tuple[HookFailure, ...]


class PluginStatus(enum.StrEnum):
    """Whether all hooks of a plugin are still called."""

    OK = "ok"
    OFF = "switched off"  # an observer is not called any more
    DENYING = "denying"  # a policy is not called any more, and what it would have been asked about is denied


@attrs.frozen
class PluginInfo:
    """A plugin and how it fared so far.

    ``origin`` is its entry point, its file or its module. ``seconds`` is the time spent in its hooks, ``slow_calls``
    of them took longer than the bundle allows, and ``last_failure`` is empty where nothing failed.
    """

    name: str
    version: str
    origin: str
    hooks: tuple[str, ...]
    calls: int
    seconds: float
    failures: int
    slow_calls: int
    status: PluginStatus
    last_failure: str
