"""The reference of every key of a bundle and of the service, from the classes that the program reads them into."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import attrs
import click

from negotiator.app.service_settings import KEYS, ServiceSettings
from negotiator.bundle.match_expressions import MATCH_EXPRESSIONS
from negotiator.bundle.model import AccountingSettings, AuditSettings, MatchMode, PlacementSettings
from negotiator.bundle.schema import is_dict, is_enum, is_expression, is_list, keys_of, union_members
from negotiator.bundle.sections import lay_out
from negotiator.bundle.site_commands import KillSettings, NotifySettings
from negotiator.bundle.time_limits import INTERVAL_KNOBS, TIME_KNOBS, CycleIntervals, TimeLimits
from negotiator.cli.commands.serve import serve
from negotiator.hooks.declarations import Section
from negotiator.hooks.loading import PluginSettings, load_plugins
from negotiator.queues.config import ConfigurationEntry
from negotiator.records import ScalarText
from negotiator_docs.markdown import GENERATED, code, table, text
from negotiator_docs.mentions import Mentions

DOCS = Path(__file__).parents[2]

_HEAD = """# Configuration keys

Every key of a [policy bundle](../bundle.md) and of [the service](../service.md), from the classes that the program reads them
into. A dot leads into a part (`audit.matches` is `matches:` below `audit:`), `[]` is each entry of a list, and `NAME` stands for
names that a site chooses. Settings of HTCondor's own configuration: [condor-settings.md](../condor-settings.md).
"""
_PROPERTIES = """Names of `properties` that have an effect: [modes](../queues.md#modes), [the order of queues](../queue-order.md#properties).
"""
_SERVICE = """The settings of the service, which are also options of `negotiator serve`, or keys of its `--set`: [service.md](../service.md).
"""
_COLUMNS = ("key", "value", "default", "documented in")
_NAMES: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "`true` or `false`",
    Path: "file of the bundle",
    ScalarText: "text",
}

#: The parts of ``pool.yaml`` that no plugin owns.
_CORE: Mapping[str, type] = {
    "audit": AuditSettings,
    "placement": PlacementSettings,
    "accounting": AccountingSettings,
    "plugins": PluginSettings,
    "kill": KillSettings,
    "notify": NotifySettings,
}

#: The pages of plugins whose keys the page of bundles does not document.
_PLUGIN_PAGES: Mapping[str, str] = {
    "fairshare": "fair-share.md",
    "limits": "queues.md",
    "live": "live-pool.md",
    "queue_order": "queue-order.md",
    "quotasets": "quota-sets.md",
}


@attrs.frozen
class Key:
    """One key: its path, its value in words, and its default as written; the default is empty if there is none."""

    path: str
    value: str
    default: str = ""


def keys_page() -> str:
    """Return the page."""
    mentions = Mentions.of(DOCS)
    parts = [GENERATED + _HEAD, "## pool.yaml\n", _table(_core_keys(), mentions, "bundle.md")]
    for plugin, section in _sections():
        own = [each for each in _keys(section.schema) if each.path.partition(".")[0] not in section.apart]
        patterns = [Key(pattern, "text") for pattern in section.knobs]
        if own or patterns:
            page = _PLUGIN_PAGES.get(plugin, "bundle.md")
            parts += [f"### Plugin {plugin}\n", _table([*own, *patterns], mentions, page)]
    parts += ["## queues.yaml\n", _PROPERTIES, _table(_keys(ConfigurationEntry), mentions, "queues.md")]
    for plugin, section in _sections():
        for name in section.apart:
            wanted = next(each.field.type for each in keys_of(section.schema) if each.name == name)
            parts.append(f"## {Section.file_of(name)}\n\nRead by the plugin {plugin}.\n")
            parts.append(_table(_below("", wanted), mentions, "quota-sets.md"))
    parts += ["## negotiator.yaml\n", _SERVICE, table(("key", "default", ""), _service_rows())]
    return "\n".join(parts)


def _table(keys: Iterable[Key], mentions: Mentions, page: str) -> str:
    rows = [(code(key.path), key.value, code(key.default), mentions.link(key.path, page)) for key in keys]
    return table(_COLUMNS, rows)


def _core_keys() -> Iterator[Key]:
    yield Key("order", "name of an order", "submitters")
    yield Key("source", "name of a pool source")
    yield Key("match", _value(MatchMode), MatchMode.ONE)
    limits, intervals = TimeLimits(), CycleIntervals()
    for limit, knob in TIME_KNOBS.items():
        yield Key(knob, "whole number, in seconds", f"{limits.seconds(limit):g}")
    for knob, seconds in zip(INTERVAL_KNOBS, attrs.astuple(intervals), strict=True):
        yield Key(knob, "whole number, in seconds", f"{seconds:g}")
    yield Key(MATCH_EXPRESSIONS, "mapping of names to expressions")
    for name, schema in _CORE.items():
        yield from _keys(schema, f"{name}.")


def _sections() -> Iterator[tuple[str, Section]]:
    """Yield the section of each plugin that comes along, by name."""
    manager, _ = load_plugins(PluginSettings())
    for attributed in sorted(lay_out(manager).sections, key=lambda each: each.plugin):
        yield attributed.plugin, attributed.record


def _service_rows() -> Iterator[tuple[str, str, str]]:
    """Yield each setting of the service with its default, and what the option of the same name says."""
    fields = attrs.fields_dict(ServiceSettings)
    names = {"plugins_dir": "plugins_dirs"}
    options = {option.name: option for option in serve.params if isinstance(option, click.Option)}
    for name in KEYS:
        shown = (options[names.get(name, name)].help or "").partition("  [")[0]
        yield code(name), code(_default(fields[name])), text(shown)


def _keys(schema: type, prefix: str = "", above: tuple[type, ...] = ()) -> Iterator[Key]:
    """Yield the keys of a class and of those below it; a class inside itself, as a queue in a queue, is not entered again."""
    for key in keys_of(schema):
        path, wanted = f"{prefix}{key.name}", key.field.type
        yield Key(path, _value(wanted), _default(key.field))
        yield from _below(path, wanted, (*above, schema))


def _below(path: str, wanted: Any, above: tuple[type, ...] = ()) -> Iterator[Key]:
    """Yield the keys inside a value, at any depth."""
    if (
        isinstance(wanted, type)
        and attrs.has(wanted)
        and not is_expression(wanted)
        and wanted is not ScalarText
    ):
        if wanted not in above:
            yield from _keys(wanted, f"{path}." if path else "", above)
    elif is_list(wanted):
        yield from _below(f"{path}[]", get_args(wanted)[0], above)
    elif is_dict(wanted):
        yield from _below(f"{path}.NAME" if path else "NAME", get_args(wanted)[1], above)
    else:
        for member in union_members(wanted):
            yield from _below(path, member, above)


def _value(wanted: Any) -> str:
    """Return the values that a type may have, in words."""
    if wanted in _NAMES:
        return _NAMES[wanted]
    if is_expression(wanted):
        return "expression"
    if is_enum(wanted):
        return ", ".join(code(str(member.value)) for member in wanted)
    if is_list(wanted):
        return f"list: {_value(get_args(wanted)[0])}"
    if is_dict(wanted):
        return f"by name: {_value(get_args(wanted)[1])}"
    if isinstance(wanted, type):
        return "keys below"
    return ", or ".join(dict.fromkeys(map(_value, union_members(wanted))))


def _default(field: attrs.Attribute[Any]) -> str:
    """Return the default of a field as it would be written; empty for none, and for nothing."""
    value: Any = field.default
    if hasattr(value, "takes_self"):  # a factory
        if value.takes_self:
            return ""
        value = value.factory()
    if value is attrs.NOTHING or value is None or (isinstance(value, str | tuple | dict) and not value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(str, value))}]"
    written = getattr(value, "text", value)
    return str(written) if isinstance(written, str | int | float | Path) else ""
