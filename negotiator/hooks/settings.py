"""What a bundle says about plugins."""

from __future__ import annotations

from pathlib import Path

import attrs


@attrs.frozen
class PluginSettings:
    """The ``plugins:`` part of ``pool.yaml``: what is loaded beside the installed plugins, and in which order asked."""

    folders: tuple[Path, ...] = ()
    modules: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    slow_seconds: float = 1.0  # a call that takes longer counts as slow
    max_failures: int = 3  # so many failures in a row switch an observer off; so many slow calls anybody
