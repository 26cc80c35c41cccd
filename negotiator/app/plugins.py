"""Use case: the plugins of a bundle, and the problems of loading them."""

from __future__ import annotations

import attrs

from negotiator.app.targets import examine
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.manager import PluginInfo
from negotiator.records import Problem, Severity


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
