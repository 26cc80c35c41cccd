"""JSON schemas of the YAML files of a bundle, and of the settings classes that their objects are built from.

A schema refuses only what :class:`~negotiator.bundle.object_builder.ObjectBuilder` refuses; it cannot have all checks, such as
the syntax of an expression. Descriptions are the sentences of docstrings. Source: JSON Schema, draft 2020-12.
"""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterator, Mapping
from fnmatch import translate
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import attrs

from negotiator.bundle import ordering, scalars, sources
from negotiator.bundle.folder import MAIN, QUEUES
from negotiator.bundle.match_expressions import MATCH_EXPRESSIONS
from negotiator.bundle.model import AccountingSettings, AuditSettings, MatchMode, PlacementSettings
from negotiator.bundle.schema import (
    SchemaKey,
    is_dict,
    is_enum,
    is_expression,
    is_list,
    is_union,
    keys_of,
    union_members,
)
from negotiator.bundle.sections import SectionLayout, lay_out
from negotiator.bundle.site_commands import KillSettings, NotifySettings
from negotiator.bundle.time_limits import LEAST_SECONDS, TIME_KNOBS
from negotiator.hooks import specs
from negotiator.hooks.declarations import Expression, Section
from negotiator.hooks.manager import HookManager
from negotiator.hooks.overruns import OverrunAction, Reuse
from negotiator.hooks.settings import PluginSettings
from negotiator.queues.config import ConfigurationEntry
from negotiator.records import ScalarText

JsonSchema: TypeAlias = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_SCALAR: Final = ["string", "number", "boolean"]
_TYPES: Final = {str: "string", Path: "string", int: "integer", float: "number", bool: "boolean"}
_BOUNDS: Final = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}
_SENTENCE: Final = re.compile(r"(?<=\.)\s+(?=[A-Z`])|(?<=;)\s+(?=``)")
_ROLE: Final = re.compile(r":\w+:`~?(?:[\w.]*\.)?(\w+)`")
_LONGEST_INTEGER: Final = 4_000  # digits that Python converts
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


@attrs.define(eq=False)
class SchemaWriter:
    """Writes the schemas of types; those of classes are in ``definitions``, by the names of the classes."""

    definitions: dict[str, JsonSchema] = attrs.field(factory=dict)
    _names: dict[type, str] = attrs.field(factory=dict)

    def of_type(self, wanted: Any) -> JsonSchema:
        """Return the schema of the values of a type, which a settings class may have."""
        if is_expression(wanted):
            # An expression `null` is an attribute of this name.
            return {"description": "A ClassAd expression.", "type": [*_SCALAR, "null"]}
        if wanted is ScalarText:
            return {"type": _SCALAR}
        if is_list(wanted):
            return {"type": "array", "items": self.of_type(get_args(wanted)[0])}
        if is_dict(wanted):
            return {"type": "object", "additionalProperties": self.of_type(get_args(wanted)[1])}
        if is_union(wanted):
            return self._union(wanted)
        if is_enum(wanted):
            return {"enum": list(_members(wanted))}
        return {"type": _TYPES[wanted]} if wanted in _TYPES else self._reference(wanted)

    def properties(self, schema: type) -> dict[str, JsonSchema]:
        """Return the schemas of the keys of a settings class, with their descriptions and defaults."""
        return {key.name: self._property(key, schema) for key in keys_of(schema)}

    def _property(self, key: SchemaKey, schema: type) -> JsonSchema:
        found = self.of_type(key.field.type)
        about = " ".join(sentences_about(key.name, schema))
        return {**found, **({"description": about} if about else {}), **_default(key), **_bounds(key)}

    def _union(self, wanted: Any) -> JsonSchema:
        members = union_members(wanted)
        choice: list[JsonSchema]
        if any(map(is_expression, members)) and len(members) > 1:
            choice = [self.of_type(next(filter(is_expression, members)))]
        else:
            choice = [self.of_type(member) for member in members]
        if len(members) < len(get_args(wanted)):
            choice = _or_nothing(choice)
        return choice[0] if len(choice) == 1 else {"anyOf": choice}

    def _reference(self, wanted: type) -> JsonSchema:
        if wanted not in self._names:
            name = wanted.__name__.strip("_")
            if name in self.definitions:
                name = f"{wanted.__module__}.{name}"
            self._names[wanted] = name
            self.definitions[name] = {}  # a class may refer to itself
            self.definitions[name].update(self._object(wanted))
        return {"$ref": f"#/$defs/{self._names[wanted]}"}

    def _object(self, wanted: type) -> JsonSchema:
        required = [key.name for key in keys_of(wanted) if key.required]
        return {
            **({"description": text} if (text := described(wanted)) else {}),
            "type": "object",
            "properties": self.properties(wanted),
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }


def _or_nothing(choice: list[JsonSchema]) -> list[JsonSchema]:
    """Return a choice that also has None: a key without a value, or with an empty text."""
    types = [
        {each["type"]} if isinstance(each.get("type"), str) else {*each.get("type", ())} for each in choice
    ]
    if not any("null" in each for each in types):
        choice = [*choice, {"type": "null"}]
    if not any("string" in each for each in types):
        choice = [*choice, {"type": "string", "pattern": r"^\s*$"}]
    return choice


def _members(wanted: type[enum.Enum]) -> Iterator[Any]:
    """Yield the values of an enumeration, as text and as YAML reads them without quotes."""
    for member in wanted:
        text = str(member.value)
        yield text
        if scalars.ambiguous(text) is None and scalars.kind(text) is not scalars.ScalarKind.TEXT:
            yield plain_value(text)


def plain_value(text: str) -> Any:
    """Return the value that YAML 1.2 reads for a scalar without quotes."""
    if scalars.ambiguous(text) is not None:
        return text
    match scalars.kind(text):
        case scalars.ScalarKind.NULL:
            return None
        case scalars.ScalarKind.BOOLEAN:
            return text in scalars.TRUE
        case scalars.ScalarKind.INTEGER:
            return int(text) if len(text) < _LONGEST_INTEGER else float(text)
        case scalars.ScalarKind.REAL:
            return float(text)
    return text


def described(schema: type) -> str:
    """Return the docstring of a class as one line of text; empty if it has none."""
    return " ".join(_sentences(schema)).replace("``", "")


def _sentences(schema: type) -> Iterator[str]:
    """Yield the sentences of a class's docstring, without markup; nothing if it has none of its own."""
    text = schema.__dict__.get("__doc__") or ""
    if text.startswith(f"Method generated by attrs for class {schema.__name__}"):
        return
    text = inspect.cleandoc(text).split("::\n")[0]
    yield from _SENTENCE.split(" ".join(_ROLE.sub(r"\1", text).split())) if text else ()


def sentences_about(name: str, schema: type) -> Iterator[str]:
    """Yield the sentences of a class's docstring about a key: those that begin with it, or else those that have it."""
    word = re.compile(rf"``{re.escape(name)}(?:``|:)")
    having = [each for each in _sentences(schema) if word.search(each)]
    first = [each for each in having if each.startswith("``") and word.search(each.split(" is ")[0])]
    yield from (f"{each.replace('``', '').rstrip('.;')}." for each in first or having)


def _default(key: SchemaKey) -> JsonSchema:
    """Return the default of a key, if it is a scalar that the key may have."""
    value = key.field.default
    if key.required:
        return {}
    if isinstance(value, enum.Enum):
        return {"default": str(value.value)}
    return {"default": value} if isinstance(value, str | int | float) and value != "" else {}


def _bounds(key: SchemaKey) -> JsonSchema:
    """Return the bounds of a number by the validators of attrs, such as ``attrs.validators.ge(1)``."""
    operator = getattr(key.field.validator, "compare_op", None)
    bound = getattr(key.field.validator, "bound", None)
    numeric = key.field.type in {int, float} and isinstance(bound, int | float)
    return {_BOUNDS[operator]: bound} if numeric and operator in _BOUNDS else {}


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
