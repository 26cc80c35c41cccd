"""JSON schemas of the YAML files of a bundle: ``pool.yaml``, ``queues.yaml``, and the files of keys of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import translate
from typing import Any, Final

from negotiator.bundle import ordering, sources
from negotiator.bundle.cycle_intervals import LEAST_SECONDS
from negotiator.bundle.folder import MAIN, QUEUES
from negotiator.bundle.json_schema import DIALECT, JsonSchema, SchemaWriter
from negotiator.bundle.match_expressions import MATCH_EXPRESSIONS
from negotiator.bundle.model import AccountingSettings, AuditSettings, MatchMode, PlacementSettings
from negotiator.bundle.sections import SectionLayout, lay_out
from negotiator.bundle.site_commands import KillSettings, NotifySettings
from negotiator.bundle.time_limits import TIME_KNOBS
from negotiator.hooks import specs
from negotiator.hooks.declarations import Expression, Section
from negotiator.hooks.manager import HookManager
from negotiator.hooks.overruns import OverrunAction, Reuse
from negotiator.hooks.settings import PluginSettings
from negotiator.queues.config import ConfigurationEntry
from negotiator.records import ScalarText

_CORE: Final = {
    "plugins": PluginSettings,
    "audit": AuditSettings,
    "placement": PlacementSettings,
    "accounting": AccountingSettings,
    "match": MatchMode,
    "reuse": Reuse,
    "overruns": OverrunAction,
    "overrun_grace": float,
    "kill": KillSettings,
    "notify": NotifySettings,
}


def file_schemas(hooks: HookManager, *, complete: bool = True) -> Mapping[str, JsonSchema]:
    """Return the schema of each YAML file of a bundle with these plugins, by the name of the file.

    :param complete: False if a plugin was refused, whose keys are unknown: then other keys are permitted.
    """
    layout = lay_out(hooks)
    files = {MAIN: _pool(hooks, layout, complete=complete), QUEUES: _queues()}
    return {**files, **dict(_of_keys(layout))}


def written_schema(name: str, description: str, writer: SchemaWriter, top: JsonSchema) -> JsonSchema:
    """Return the schema of a file; an empty file is a mapping without keys.

    :param writer: has the definitions that ``top`` refers to.
    """
    kind = {**top, "type": [top["type"], "null"]} if "type" in top else top
    head = {"$schema": DIALECT, "title": name}
    return {**head, **kind, "description": description, "$defs": dict(sorted(writer.definitions.items()))}


def _pool(hooks: HookManager, layout: SectionLayout, *, complete: bool) -> JsonSchema:
    writer = SchemaWriter()
    properties = {key: writer.of_type(schema) for key, schema in _CORE.items()}
    properties |= _named(hooks)
    properties |= {knob: {"type": "integer", "minimum": 1} for knob in TIME_KNOBS.values()}
    properties[MATCH_EXPRESSIONS] = writer.of_type(dict[str, Expression])
    properties |= {knob: {"type": "integer", "minimum": least} for knob, least in LEAST_SECONDS.items()}
    for section in layout.sections:
        properties |= writer.properties(section.record.schema)
    top: JsonSchema = {"type": "object", "properties": properties}
    patterns = {_insensitive(each, properties): writer.of_type(ScalarText) for each in layout.owners.patterns}
    if patterns:
        top["patternProperties"] = patterns
    top["additionalProperties"] = not complete
    return written_schema(MAIN, "The settings of a policy bundle of negotiator.", writer, top)


def _named(hooks: HookManager) -> Mapping[str, JsonSchema]:
    """Return the schemas of the keys that name something which plugins bring."""
    orders = {each.record.name for each in hooks.ask(specs.negotiator_orders).records}
    pools = {each.record.name for each in hooks.ask(specs.negotiator_pool_sources).records}
    return {
        ordering.KEY: {
            "description": "The order in which owners and submitters are served.",
            "enum": sorted({*orders, ordering.NAMES}),
        },
        sources.KEY: {"description": "The live pool that negotiator serve serves.", "enum": sorted(pools)},
    }


def _queues() -> JsonSchema:
    writer = SchemaWriter()
    configuration = writer.of_type(ConfigurationEntry)
    top = {
        "type": "object",
        "if": {"type": "object", "properties": {"kind": {"const": "ConfigMap"}}, "required": ["kind"]},
        "then": {"type": "object"},
        "else": {"anyOf": [configuration, {"type": "null"}]},
    }
    description = (
        "The queues and placement rules of a policy bundle, as YuniKorn's, or a ConfigMap with them."
    )
    return written_schema(QUEUES, description, writer, top)


def _of_keys(layout: SectionLayout) -> Iterator[tuple[str, JsonSchema]]:
    """Yield the files that are the value of one key each."""
    for attributed in layout.sections:
        section: Section = attributed.record
        for key in section.apart:
            writer = SchemaWriter()
            properties: Mapping[str, Any] = writer.properties(section.schema)
            found = properties[key]
            top = writer.definitions.pop(found["$ref"].rpartition("/")[2]) if "$ref" in found else found
            name = Section.file_of(key)
            description = top.get("description", f"The key {key} of {MAIN}, in a file of its own.")
            yield name, written_schema(name, description, writer, top)


def _insensitive(pattern: str, keys: Mapping[str, Any]) -> str:
    """Return the regular expression of a pattern of names in any case, but for names that are keys themselves."""
    text = translate(pattern.lower()).removeprefix("(?s:").rpartition(")")[0]
    anyone = "".join(f"[{each}{each.upper()}]" if each.isalpha() else each for each in text)
    excluded = [re.escape(key) for key in sorted(keys) if re.fullmatch(anyone, key)]
    return f"^(?!(?:{'|'.join(excluded)})$){anyone}$" if excluded else f"^{anyone}$"
