"""Calls one implementation of a hook: by itself, timed, with its answer checked and its failures caught.

Whatever a plugin raises becomes a ``HookFailure``. After so many failures in a row an observer is not called any more;
one that enforces is asked each time, and each failure denies what it was asked about. After so many slow calls in a
row neither is called any more, and one that enforces goes on failing. Slow calls are only counted here; they have an
effect when ``end_cycle`` is called, so that the outcome of a cycle never depends on the clock inside it. A Python
function that hangs can't be interrupted.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, TypeVar

import attrs

from negotiator.hooks.answers import HookFailure, clean
from negotiator.hooks.checks import WrongAnswerError
from negotiator.hooks.pluggy_adapter import Implementation
from negotiator.hooks.settings import PluginSettings
from negotiator.hooks.tracing import describe_answer, describe_call

T = TypeVar("T")
Clock = Callable[[], float]
Tracer = Callable[[str], None]

MAX_MESSAGE = 300  # characters of what a plugin raised that are kept

_log = logging.getLogger(__name__)


@attrs.frozen
class _Raised:
    """What a plugin raised; by itself, since an exception may lie to ``isinstance`` about its class."""

    error: BaseException


@attrs.define
class Tally:
    """How one implementation fared: the sums, and the failures and slow calls in a row."""

    calls: int = 0
    seconds: float = 0.0
    failures: int = 0
    slow_calls: int = 0
    failed_in_row: int = 0
    slow_in_row: int = 0
    too_slow: bool = False  # to be put out of action when the cycle ends
    out: str = ""  # why it is not called any more
    last_failure: str = ""


@attrs.define
class Guarded:
    """One implementation behind its guard. ``ask`` returns the checked records, or the failure."""

    implementation: Implementation
    version: str
    settings: PluginSettings
    tracer: Tracer | None = None
    clock: Clock = perf_counter
    tally: Tally = attrs.field(factory=Tally)

    def ask(
        self, arguments: Mapping[str, Any], check: Callable[[Any], tuple[T, ...]]
    ) -> tuple[T, ...] | HookFailure | None:
        """Call it with those of the arguments that it takes, and check the answer.

        None says that it was not called and that nothing depends on it: an observer that was switched off.
        """
        if self.tally.out:
            return self._not_asked()
        taken = {name: arguments[name] for name in self.implementation.arguments}
        start = self.clock()
        answer = self._call(taken, check)
        seconds = self.clock() - start
        self._count(seconds, answer)
        if self.tracer is not None:
            self.tracer(
                f"{self._label()} {describe_call(taken)} -> {describe_answer(answer.error if isinstance(answer, _Raised) else answer)} in {seconds * 1000:.3f} ms"
            )
        return self._failure(answer.error) if isinstance(answer, _Raised) else answer

    def end_cycle(self) -> None:
        """Put it out of action where it was slow too many times in a row."""
        if self.tally.too_slow and not self.tally.out:
            self.tally.out = f"{self.settings.max_failures} slow calls in a row"

    def _call(
        self, arguments: Mapping[str, Any], check: Callable[[Any], tuple[T, ...]]
    ) -> tuple[T, ...] | _Raised:
        printed = sys.stdout
        try:
            # What the program prints may be read by another program. As redirect_stdout does, which takes longer than a call.
            sys.stdout = sys.stderr
            return check(self.implementation.function(**arguments))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin must not end the program, not even by SystemExit
            _log.debug("%s", self._label(), exc_info=error)
            return _Raised(error)
        finally:
            sys.stdout = printed

    def _count(self, seconds: float, answer: tuple[Any, ...] | _Raised) -> None:
        tally = self.tally
        tally.calls += 1
        tally.seconds += seconds
        slow = seconds > self.settings.slow_seconds
        tally.slow_calls += slow
        tally.slow_in_row = tally.slow_in_row + 1 if slow else 0
        tally.too_slow |= tally.slow_in_row >= self.settings.max_failures
        if not isinstance(answer, _Raised):
            tally.failed_in_row = 0
            return
        tally.failures += 1
        tally.failed_in_row += 1
        tally.last_failure = describe_error(answer.error)
        # A policy goes on being asked: each failure denies what it was asked about, and what one user's jobs make it
        # raise must not deny everybody.
        if tally.failed_in_row >= self.settings.max_failures and not self.implementation.spec.enforces:
            tally.out = f"{tally.failed_in_row} failures in a row"

    def _failure(self, error: BaseException) -> HookFailure:
        return self._stamped(describe_error(error))

    def _not_asked(self) -> HookFailure | None:
        if not self.implementation.spec.enforces:
            return None
        last = f" (the last: {self.tally.last_failure})" if self.tally.last_failure else ""
        if self.tracer is not None:
            self.tracer(f"{self._label()} not called: {self.tally.out}")
        return self._stamped(f"not called any more after {self.tally.out}{last}")

    def _stamped(self, message: str) -> HookFailure:
        hook = self.implementation.spec.name
        return HookFailure(self.implementation.plugin, self.version, hook, message)

    def _label(self) -> str:
        return f"{self.implementation.spec.name} {self.implementation.plugin} {self.version}:"


def describe_error(error: BaseException) -> str:
    """``ValueError: no such calendar``: one printable line of bounded length, without a traceback."""
    try:
        text = clean(str(error), MAX_MESSAGE)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - the class of the error may be the plugin's as well
        text = "its text can't be had"
    name = "wrong answer" if type(error) is WrongAnswerError else clean(type(error).__name__, MAX_MESSAGE)
    return f"{name}: {text}" if text else name
