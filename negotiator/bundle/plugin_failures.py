"""Problems of a bundle that failed plugins cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from negotiator.hooks.manager import HookFailure, HookManager
from negotiator.records import Problem, Severity, Source


def plugin_source(hooks: HookManager, plugin: str) -> Source:
    """Return where a plugin comes from."""
    return Source(next((each.origin for each in hooks.plugins if each.name == plugin), plugin))


def failure_problems(hooks: HookManager, failures: Iterable[HookFailure]) -> Iterator[Problem]:
    """Yield an error for each failure, at the plugin's origin."""
    for failure in failures:
        yield Problem(Severity.ERROR, plugin_source(hooks, failure.plugin), str(failure))
