"""Calls of plugins while they go on: how they are described, and which go on for long.

Python cannot interrupt a call, but can name it. Each call of a plugin's code is entered in ``plugin_output.running_calls``, with its beginning. A thread
looks at them twice a second; a call that runs for longer than its ``report_seconds`` is reported once, and again when it has ended. Nothing that is
decided depends on it. A description (``--trace-hooks``) has sizes, kinds and rules, never the value of an attribute of an ad.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import attrs
import click

from negotiator.classad import Table
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import Constraint
from negotiator.hooks.plugin_output import PluginCall, running_calls
from negotiator.hooks.records import Cycle, Filter, Gate, Request

#: Seconds between two looks.
INTERVAL: Final = 0.5


def describe_call(arguments: Mapping[str, Any]) -> str:
    """``kind=startd ads=300 rows cycle=7``."""
    return " ".join(f"{name}={_argument(value)}" for name, value in arguments.items()) or "()"


def describe_answer(answer: tuple[Any, ...] | BaseException) -> str:
    """``2 records: stale, tiny``, or the kind of the error; its text might quote an ad."""
    if isinstance(answer, BaseException):
        return f"failed: {type(answer).__name__}"
    names = [_record(record) for record in answer]
    shown = ", ".join([*names[:10], *(["..."] if len(names) > 10 else [])])
    return f"{len(names)} {'record' if len(names) == 1 else 'records'}" + (f": {shown}" if shown else "")


def describe_subject(arguments: Mapping[str, Any]) -> str:
    """Return the first job and the submitter of the request that a call is about; empty for other calls."""
    request = arguments.get("request")
    return f"job {request.first_job} of {request.submitter}" if isinstance(request, Request) else ""


def _argument(value: object) -> str:
    match value:
        case None:
            return "None"
        case AdKind():
            return value.value
        case Table():
            return f"{len(value)} rows"
        case Cycle():
            return str(value.number)
        case Request():
            return f"{value.count} jobs"
        case tuple() | list():
            return f"{len(value)} items"
        case _:
            return type(value).__name__


def _record(record: object) -> str:
    match record:
        case Gate():
            return f"{record.rule} ({int(record.discard.sum())} discarded)"
        case Filter():
            return f"{record.rule} ({len(record.allow) - int(record.allow.sum())} not allowed)"
        case Constraint():
            return record.rule
        case click.Command():
            return record.name or ""
        case str():
            return record
        case _:
            return type(record).__name__


@attrs.frozen
class LongCall:
    """A call of a plugin's code that takes long: ``subject`` is the hook or part of the plugin, ``about`` a request if there is one.

    ``began`` is in seconds since the epoch; ``seconds`` is how long it has run, ``has_ended`` whether it ran no longer.
    """

    subject: str
    about: str
    began: float
    seconds: float
    has_ended: bool = False

    def __str__(self) -> str:
        """``negotiator_charges of plugin site has run for 10 s (job 1.0 of alice), and goes on``."""
        about = f" ({self.about})" if self.about else ""
        if self.has_ended:
            return f"{self.subject} ended after {self.seconds:.0f} s{about}"
        return f"{self.subject} has run for {self.seconds:.0f} s{about}, and goes on"


Reporter = Callable[[LongCall], None]


@contextmanager
def reporting_long_calls(report: Reporter, clock: Callable[[], float] = time.time) -> Iterator[None]:
    """Report the calls of plugins that go on for long, as long as the context lasts.

    :param report: called in a thread of its own with each call when it takes too long, and when it has ended.
    :param clock: returns the time in seconds since the epoch.
    """
    watch = _Watch(report, clock)
    thread = threading.Thread(target=watch.run, name="long calls of plugins", daemon=True)
    thread.start()
    try:
        yield
    finally:
        watch.stopped.set()
        thread.join()


@attrs.define(eq=False)
class _Watch:
    report: Reporter
    clock: Callable[[], float]
    stopped: threading.Event = attrs.field(factory=threading.Event)
    _reported: dict[PluginCall, LongCall] = attrs.field(factory=dict)

    def run(self) -> None:
        while not self.stopped.wait(INTERVAL):
            self._look()
        self._look()  # for the ends

    def _look(self) -> None:
        now, present = time.monotonic(), set[PluginCall]()
        for innermost in list(running_calls.values()):
            call: PluginCall | None = innermost
            while call is not None:
                present.add(call)
                seconds = now - call.began
                if seconds >= call.report_seconds and call not in self._reported:
                    found = LongCall(str(call.subject), _about(call), self.clock() - seconds, seconds)
                    self._reported[call] = found
                    self.report(found)
                call = call.outer
        for call in [each for each in self._reported if each not in present]:
            found = self._reported.pop(call)
            ended = call.ended or now
            self.report(attrs.evolve(found, seconds=ended - call.began, has_ended=True))


def _about(call: PluginCall) -> str:
    """Return which request a call is about; empty if it is about none."""
    if call.arguments is None:
        return ""
    from negotiator.hooks.plugin_watch import describe_subject  # noqa: PLC0415 - imports NumPy

    return describe_subject(call.arguments)
