"""The settings of plugins in a bundle."""

from __future__ import annotations

from pathlib import Path

import attrs


@attrs.frozen
class PluginSettings:
    """The ``plugins:`` part of ``pool.yaml``: the plugins loaded besides the installed ones, and the order of calls."""

    folders: tuple[Path, ...] = ()
    modules: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    slow_seconds: float = 1.0  # a call that takes longer counts as slow
    max_failures: int = 3  # so many failures, or slow calls, in a row switch off an observer
    isolate: dict[str, float] = attrs.field(
        factory=dict
    )  # seconds that a call of this plugin's worker process may take
