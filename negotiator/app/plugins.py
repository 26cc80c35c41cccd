"""Use case: the plugins of a bundle, the problems of loading them, and calls of functions that they gave in records.

A failure of such a function names the plugin and the line, as those of hooks do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import attrs

from negotiator.app.targets import examine
from negotiator.errors import PluginFailureError
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.hook import Hook
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import PluginInfo
from negotiator.hooks.plugin_output import running_plugin
from negotiator.records import Problem, Severity

T = TypeVar("T")


@attrs.frozen
class PluginReport:
    """The plugins in the order of their calls, and all problems of the bundle."""

    plugins: tuple[PluginInfo, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """True if no plugin was refused and the bundle has no errors."""
        return not any(problem.severity is Severity.ERROR for problem in self.problems)


def plugin_report(targets: CommandTargets) -> PluginReport:
    """Load the bundle and list its plugins."""
    examination = examine(targets)
    plugins = examination.hooks.plugins if examination.hooks else ()
    return PluginReport(tuple(plugins), tuple(examination.problems))


@attrs.frozen(eq=False)
class PluginFunction:
    """A function in a record that a hook returned.

    ``subject`` describes it: "the report hosts". ``refusals`` are the exceptions by which it refuses an argument; they are raised again.
    """

    record: Attributed[Any]
    hook: Hook[..., Any]
    function: Callable[..., Any]
    subject: str
    refusals: tuple[type[Exception], ...] = ()

    def answer_or_failure(self, call: Callable[[], T]) -> T | HookFailure:
        """Return what a call of the function returns, or the failure of the plugin.

        :param call: calls the function, and checks its answer.
        """
        try:
            with running_plugin(f"{self.subject} of plugin {self.record.plugin}"):
                return call()
        except self.refusals:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
            raise_if_interrupted(error)
            line = failed_line(error, self.function)
            return HookFailure(
                self.record.plugin, self.record.version, self.hook.name, describe_error(error), line
            )

    def answer(self, call: Callable[[], T]) -> T:
        """Return what a call of the function returns.

        :raises PluginFailureError: the plugin failed.
        """
        answer = self.answer_or_failure(call)
        if isinstance(answer, HookFailure):
            raise PluginFailureError(str(answer))
        return answer
