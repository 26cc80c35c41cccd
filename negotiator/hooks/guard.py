"""Calls one implementation of a hook: by itself, timed, with its answer checked and its failures caught.

Any exception of a plugin becomes a ``HookFailure``. An observer that fails, or is slow, several times in a row is not called
again: no decision depends on it. A policy is called each time, and each failure denies the subject of the call. The time
that a call of a policy takes is only reported, since it differs whenever a cycle is repeated; the expressions that it
evaluates are limited in steps (``cycle.work_accounts``). A Python function that hangs can't be interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from negotiator.hooks.answers import HookFailure, SlowCall
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.hook import AnswerCheck
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.pluggy_adapter import Implementation
from negotiator.hooks.plugin_output import PluginCall
from negotiator.hooks.process_state import unchanged_process
from negotiator.hooks.settings import PluginSettings
from negotiator.records import Source

if TYPE_CHECKING:
    from negotiator.hooks.declared_reads import DeclaredReads
    from negotiator.hooks.policy import PluginPolicy

T = TypeVar("T")
Clock = Callable[[], float]
Tracer = Callable[[str], None]


@attrs.frozen
class _Raised:
    """The exception that a plugin raised; wrapped, since an exception may lie to ``isinstance`` about its class."""

    error: BaseException


@attrs.define
class Tally:
    """The calls of one implementation: the sums, and the failures and slow calls in a row.

    ``switched_off`` is the reason why an observer is no longer called; empty while it is called. ``slow`` are the slow calls
    since the last cycle ended.
    """

    calls: int = 0
    seconds: float = 0.0
    failures: int = 0
    slow_calls: int = 0
    failed_in_row: int = 0
    slow_in_row: int = 0
    too_slow: bool = False  # it is switched off when the cycle ends
    switched_off: str = ""
    last_failure: str = ""
    slow: list[SlowCall] = attrs.field(factory=list)


@attrs.define
class Guarded:
    """One implementation behind its guard. ``call`` returns the checked records, or the failure."""

    implementation: Implementation
    version: str
    settings: PluginSettings
    tracer: Tracer | None = None
    clock: Clock = perf_counter
    tally: Tally = attrs.field(factory=Tally)
    #: What the plugin may read of jobs in this hook; None for everything.
    reads: DeclaredReads | None = None
    #: Restore the state of the process after each call; ``changed`` has the names of what was changed.
    keeps_process: bool = False
    changed: list[str] = attrs.field(factory=list)
    policy: PluginPolicy | None = None  # of the plugin

    def call(self, arguments: Mapping[str, Any], check: AnswerCheck[T]) -> tuple[T, ...] | HookFailure | None:
        """Call it with those of the arguments that it takes, and check the answer.

        Return None for an observer that was switched off: it was not called, and nothing depends on it.
        """
        if self.tally.switched_off:
            return None
        implementation, clock = self.implementation, self.clock
        taken = {name: arguments[name] for name in implementation.arguments if name != "policy"}
        answer: tuple[T, ...] | _Raised
        if self.reads is not None:
            taken = self.reads.arguments(taken)
        start = clock()
        running = PluginCall(
            implementation,
            reads=self.reads,
            arguments=arguments,
            report_seconds=self.settings.report_seconds,
        )
        try:
            with running, unchanged_process(self.changed) if self.keeps_process else nullcontext():
                if "policy" in implementation.arguments:
                    taken["policy"] = self._policy(arguments)
                answer = check(implementation.function(**taken), arguments)
            if running.undeclared is not None:  # the plugin caught it
                answer = _Raised(running.undeclared)
        except BaseException as error:  # noqa: BLE001 - whatever a plugin raises is its failure
            answer = self._raised(error)
        seconds = clock() - start
        self._count(seconds, answer, arguments)
        if self.tracer is not None:
            from negotiator.hooks.plugin_watch import describe_answer, describe_call  # noqa: PLC0415 - imports NumPy

            shown = describe_answer(answer.error if isinstance(answer, _Raised) else answer)
            self.tracer(f"{self._label()} {describe_call(taken)} -> {shown} in {seconds * 1000:.3f} ms")
        return self._failure(answer.error) if isinstance(answer, _Raised) else answer

    def end_cycle(self) -> tuple[SlowCall, ...]:
        """Switch off an observer that was slow too many times in a row. Return the slow calls since the last time."""
        tally = self.tally
        if tally.too_slow and not self.implementation.hook.enforces:
            tally.switched_off = f"{self.settings.max_failures} slow calls in a row"
        slow = tuple(tally.slow)
        tally.slow.clear()
        return slow

    def _policy(self, arguments: Mapping[str, Any]) -> Any:
        given = arguments.get("policy")  # a test may pass an object
        return given if given is not None or self.policy is None else self.policy.of(arguments)

    def _raised(self, error: BaseException) -> _Raised:
        raise_if_interrupted(error)
        import logging  # noqa: PLC0415 - no start imports it; failures are rare

        logging.getLogger(__name__).debug("%s", self._label(), exc_info=error)
        return _Raised(error)

    def _count(self, seconds: float, answer: tuple[Any, ...] | _Raised, arguments: Mapping[str, Any]) -> None:
        tally = self.tally
        tally.calls += 1
        tally.seconds += seconds
        if seconds > self.settings.slow_seconds:
            tally.slow_calls += 1
            tally.slow_in_row += 1
            from negotiator.hooks.plugin_watch import describe_subject  # noqa: PLC0415 - imports NumPy

            tally.slow.append(SlowCall(seconds, describe_subject(arguments)))
            tally.too_slow |= tally.slow_in_row >= self.settings.max_failures
        else:
            tally.slow_in_row = 0
        if not isinstance(answer, _Raised):
            tally.failed_in_row = 0
            return
        tally.failures += 1
        tally.failed_in_row += 1
        tally.last_failure = describe_error(answer.error)
        # A policy is called again each time: a failure that the jobs of one user cause must not deny everybody.
        if tally.failed_in_row >= self.settings.max_failures and not self.implementation.hook.enforces:
            tally.switched_off = f"{tally.failed_in_row} failures in a row"

    def _failure(self, error: BaseException) -> HookFailure:
        return self._attributed(describe_error(error), failed_line(error, self.implementation.function))

    def _attributed(self, message: str, source: Source | None = None) -> HookFailure:
        hook = self.implementation.hook.name
        return HookFailure(self.implementation.plugin, self.version, hook, message, source)

    def _label(self) -> str:
        return f"{self.implementation.hook.name} {self.implementation.plugin} {self.version}:"
