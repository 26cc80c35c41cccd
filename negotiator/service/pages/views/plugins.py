"""*Plugins*: the time that each takes, its calls and failures, and whether it is still called."""

from __future__ import annotations

from collections.abc import Iterable

import attrs
from markupsafe import Markup

from negotiator.app.cycles import CycleDetails, PluginUse
from negotiator.hooks.answers import PluginInfo
from negotiator.service.pages.views.elements import Moment, Rows, message, moment, picture


@attrs.frozen
class PluginRow:
    """A plugin, with a picture of its share of the time of all."""

    name: str
    version: str
    origin: str
    hooks: str
    calls: str
    seconds: str
    each: str
    picture: Markup
    failures: str
    slow: str
    state: str
    level: str
    last_failure: str


@attrs.frozen
class PluginsView:
    """The page; ``ended`` is None if no cycle is known: then there are no calls."""

    ended: Moment | None
    rows: Rows


def plugins_view(details: CycleDetails | None, plugins: Iterable[PluginInfo]) -> PluginsView:
    """Return the page: those first that took the most time.

    :param plugins: those of the bundle of now.
    """
    uses = {each.name: each for each in details.plugins} if details else {}
    infos = {each.name: each for each in plugins}
    total = sum(each.seconds for each in uses.values())
    names = sorted({*uses, *infos}, key=lambda name: (-uses[name].seconds if name in uses else 0.0, name))
    rows = [_row(name, uses.get(name), infos.get(name), total) for name in names]
    return PluginsView(moment(details.ended) if details else None, Rows.first(rows, len(rows)))


def _row(name: str, use: PluginUse | None, info: PluginInfo | None, total: float) -> PluginRow:
    state, level = _state(use, info)
    calls, seconds = (use.calls, use.seconds) if use else (0, 0.0)
    return PluginRow(
        message(name),
        message(use.version if use else info.version if info else ""),
        message(info.origin) if info else "",
        message(", ".join(info.hooks)) if info else "",
        f"{calls:,}" if use else "",
        f"{seconds:.3f}" if use else "",
        f"{seconds / calls * 1000:.3f}" if calls else "",
        picture(round(seconds * 100 / total, 1) if total > 0 else 0.0),
        f"{use.failures:,}" if use else "",
        f"{use.slow_calls:,}" if use else "",
        state,
        level,
        message(use.last_failure) if use else "",
    )


def _state(use: PluginUse | None, info: PluginInfo | None) -> tuple[str, str]:
    """Return the state of a plugin in words, and how bad it is."""
    if use is None:
        return "not called yet", ""
    if use.is_off:
        return "switched off", "bad"
    if info is None:
        return "not in the bundle of now", "warn"
    if use.failures or use.slow_calls:
        return "called, with failures" if use.failures else "called, slow", "warn"
    return "called", "good"
