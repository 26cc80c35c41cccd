"""The results of the manager: records with the plugin that returned them, failures, slow calls, and each plugin's status."""

from __future__ import annotations

import enum
from typing import Generic, NamedTuple, TypeVar

import attrs

from negotiator.records import Source
from negotiator.records.text import printable

T = TypeVar("T")


def clean(text: str, limit: int) -> str:
    """Return a text as one printable line of at most ``limit`` characters."""
    return printable(" ".join(text[: 4 * limit].split()))[:limit]


class Attributed(NamedTuple, Generic[T]):
    """A record and the plugin that returned it; the guard adds the plugin's name, so that no plugin can use another's.

    A tuple: there are several for each request, and other objects take longer to make.
    """

    record: T
    plugin: str
    version: str


@attrs.frozen
class HookFailure:
    """An implementation that raised or gave a wrong answer.

    ``source`` is the innermost line of the plugin's own code, None where it was not called.
    """

    plugin: str
    version: str
    hook: str
    message: str
    source: Source | None = None

    def __str__(self) -> str:
        """``plugin maintenance 1.2, hook negotiator_filter_slots: ValueError: no such calendar (maintenance.py:12)``."""
        return f"{self._caller}: {self.detail}"

    @property
    def reproducible(self) -> str:
        """The same without the line, which is a path of this machine: for the records of a cycle's decisions."""
        return f"{self._caller}: {self.message}"

    @property
    def _caller(self) -> str:
        return f"plugin {self.plugin} {self.version}, hook {self.hook}"

    @property
    def detail(self) -> str:
        """The message, and the line of the plugin's own code in parentheses."""
        return f"{self.message} ({self.source})" if self.source else self.message


@attrs.frozen
class SlowCall:
    """The seconds that a call took, and the request that it was about: its first job and its submitter, or empty."""

    seconds: float
    subject: str = ""


@attrs.frozen
class SlowCalls:
    """The calls of one implementation, since the last cycle ended, that took longer than the bundle allows."""

    plugin: str
    version: str
    hook: str
    calls: tuple[SlowCall, ...]

    def __str__(self) -> str:
        """``plugin maintenance 1.2, hook negotiator_filter_slots: 3 slow calls, the slowest took 2.5 s``."""
        return f"plugin {self.plugin} {self.version}, hook {self.hook}: {self.detail}"

    @property
    def detail(self) -> str:
        """``3 slow calls, the slowest took 2.5 s (job 8.0 of sue@example.org)``."""
        slowest = max(self.calls, key=lambda call: call.seconds)
        subject = f" ({slowest.subject})" if slowest.subject else ""
        if len(self.calls) == 1:
            return f"slow call: it took {slowest.seconds:.3g} s{subject}"
        return f"{len(self.calls)} slow calls, the slowest took {slowest.seconds:.3g} s{subject}"


@attrs.frozen
class Answers(Generic[T]):
    """All records of all plugins, in the order in which they were called, and the failures."""

    records: tuple[Attributed[T], ...]
    failures: tuple[HookFailure, ...]


class PluginStatus(enum.StrEnum):
    """Whether all hooks of a plugin are still called."""

    OK = "ok"
    OFF = "switched off"  # an observer is not called any more


@attrs.frozen
class PluginInfo:
    """A plugin and the calls of its hooks so far.

    ``origin`` is its entry point, its file or its module. ``seconds`` is the time spent in its hooks. ``slow_calls`` of
    them took longer than the bundle allows. ``last_failure`` is empty if nothing failed.
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
