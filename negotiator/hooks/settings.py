"""The settings of plugins in a bundle."""

from __future__ import annotations

from pathlib import Path

import attrs

from negotiator.hooks.plugin_output import REPORT_SECONDS


@attrs.frozen
class PluginSettings:
    """The ``plugins:`` part of ``pool.yaml``: the plugins loaded besides the installed ones, and the order of calls.

    ``folders`` have files of plugins, ``modules`` are importable. ``disable`` are plugins that are not loaded; of the installed ones
    ``only`` those that it names are loaded, all of them if it is None. ``order`` names those that
    are called first. A call that takes longer than ``slow_seconds`` counts as slow; one that still goes on after
    ``report_seconds`` is reported at once. An observer is switched off after
    ``max_failures`` failures or slow calls in a row. ``isolate`` has the seconds that a call of the worker process of a plugin may take.
    """

    folders: tuple[Path, ...] = ()
    modules: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    order: tuple[str, ...] = ()
    slow_seconds: float = 1.0
    report_seconds: float = REPORT_SECONDS
    max_failures: int = 3
    isolate: dict[str, float] = attrs.field(factory=dict)
