"""The answers of plugins: records with the plugin that returned them, failures, slow calls, the status of each plugin, and checks of fields."""

from __future__ import annotations

import enum
import math
from typing import Any, Generic, NamedTuple, TypeVar

import attrs

from negotiator.hooks.overruns import OverrunAction
from negotiator.records import Mode, Source
from negotiator.records.text import printable

MAX_NAME = 200  # characters of a rule or a code
MAX_TEXT = 2_000  # characters of a text
T = TypeVar("T")


class WrongAnswerError(TypeError):
    """An answer that is not of the type that the hook requires."""


def kind_of(value: object) -> str:
    """Return the name of a value's type for messages; never the value."""
    return "None" if value is None else type(value).__qualname__[:MAX_NAME]


def check_exactly(value: object, kind: type, expected: str) -> None:
    """Raise WrongAnswerError unless a value is of this type itself.

    A subclass could answer the core differently each time it is read.
    """
    if type(value) is not kind:
        raise WrongAnswerError(f"expected {expected}, got {kind_of(value)}")


def check_instance(value: object, kind: Any, expected: str) -> None:
    """Raise WrongAnswerError unless a value is of this type or a subclass of it."""
    if not isinstance(value, kind):
        raise WrongAnswerError(f"expected {expected}, got {kind_of(value)}")


def checked_name(value: object, what: str) -> str:
    """Return a name: 1 to 200 printable characters. Names are compared, so they are refused rather than changed."""
    text = _string(value, what)
    if not text:
        raise WrongAnswerError(f"expected a {what}, got an empty string")
    if len(text) > MAX_NAME:
        raise WrongAnswerError(f"expected at most {MAX_NAME} characters as {what}, got {len(text)}")
    if not text.isprintable():
        raise WrongAnswerError(f"expected printable characters only as {what}")
    return text


def checked_label(value: object, what: str) -> str:
    """Return the name of a rule or a code, printable and shortened to 200 characters: it may contain names of users' queues.

    :raises WrongAnswerError: it is not a string, or empty.
    """
    label = checked_text(value, what, MAX_NAME)
    if not label:
        raise WrongAnswerError(f"expected a {what}, got an empty string")
    return label


def checked_text(value: object, what: str, limit: int = MAX_TEXT) -> str:
    """Return a text for people, printable and shortened: it ends up in terminals and in the audit log."""
    text = _string(value, what)
    return text if len(text) <= limit and text.isprintable() else clean(text, limit)


def checked_source(source: Any, what: str) -> Source | None:
    """Return None, or a new Source whose file is printable and shortened: it ends up in terminals and in the audit log.

    :raises WrongAnswerError: it is not a Source with a file, a line and a column.
    """
    if source is None:
        return None
    check_exactly(source, Source, f"a Source or None as source of {what}")
    file = checked_text(source.file, f"file in the source of {what}")
    for number in (source.line, source.column):
        check_exactly(number, int, f"numbers as line and column in the source of {what}")
    return Source(file, source.line, source.column)


def checked_rule(record: Any, what: str) -> dict[str, Any]:
    """Check the fields that all rules have: mode, source, rule and text. Return the last three, to store."""
    check_instance(record.mode, Mode, f"a Mode as mode of a {what}")
    source = checked_source(record.source, f"a {what}")
    text = checked_text(record.text, f"text of a {what}")
    return {"rule": checked_label(record.rule, f"rule of a {what}"), "text": text, "source": source}


def check_overruns(record: Any, what: str) -> None:
    """Check what a rule asks for running jobs that it would deny: an action and a grace time, each None for the bundle's."""
    if record.overruns is not None:
        check_instance(record.overruns, OverrunAction, f"an OverrunAction or None as overruns of a {what}")
    grace = record.overrun_grace
    if grace is not None and (type(grace) not in (int, float) or not 0 <= grace < math.inf):
        raise WrongAnswerError(
            f"expected seconds, 0 or more, or None as overrun_grace of a {what}, got {grace!r:.60}"
        )


def _string(value: object, what: str) -> str:
    """Return a plain ``str``, also of a value of a subclass."""
    if not isinstance(value, str):
        raise WrongAnswerError(f"expected a string as {what}, got {kind_of(value)}")
    return str.__str__(value)


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
