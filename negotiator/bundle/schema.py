"""The settings classes that a plugin may declare: attrs classes with fields of a few types."""

from __future__ import annotations

import enum
import inspect
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin
from weakref import WeakSet

import attrs

from negotiator.hooks.declarations import Expression
from negotiator.hooks.failures import describe_error
from negotiator.records import ScalarText, Source

SCALARS = frozenset({str, int, float, bool, Path})


@attrs.frozen
class SchemaKey:
    """One key of a class, and the field that it fills."""

    name: str
    field: attrs.Attribute[Any]

    @property
    def required(self) -> bool:
        """True if the key has no default."""
        return self.field.default is attrs.NOTHING


@attrs.frozen
class ClassSchema:
    """The keys of a class by name, and the arguments that the loader fills in.

    ``source`` arguments get the place of the object, ``sources`` arguments the place of each of its values,
    ``files`` arguments the texts of the files that belong to the plugin, and ``knobs`` arguments the knobs that it owns
    by patterns.
    """

    keys: Mapping[str, SchemaKey]
    source: tuple[str, ...]
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: type) -> ClassSchema:
        """Return the schema of an attrs class.

        :raises Exception: as ``keys_of``.
        """
        keys = {key.name: key for key in keys_of(schema)}
        fields = [field for field in attrs.fields(schema) if field.init]
        filled = (
            tuple(field.alias or field.name for field in fields if is_filled(field)) for is_filled in _FILLED
        )
        return cls(keys, *filled)


def keys_of(schema: type) -> Iterator[SchemaKey]:
    """Yield the keys of an attrs class.

    :raises Exception: any exception of Python for annotations that can't be resolved.
    """
    _resolve_types(schema)
    for field in attrs.fields(schema):
        if field.init and not any(is_filled(field) for is_filled in _FILLED):
            yield SchemaKey(field.alias or field.name, field)


def _resolve_types(schema: type) -> None:
    """Resolve the types of the fields alone: attrs lists cached properties too, whose types may need what a cycle needs."""
    if schema in _RESOLVED:
        return
    fields = attrs.fields(schema)
    names = {field.name for field in fields}
    for owner in schema.__mro__[-2::-1]:
        annotations = {
            name: wanted for name, wanted in inspect.get_annotations(owner).items() if name in names
        }
        nested = {name: value for name, value in vars(owner).items() if isinstance(value, type)}
        namespace = {**nested, "__module__": owner.__module__, "__annotations__": annotations}
        attrs.resolve_types(type(owner.__name__, (), namespace), attribs=list(fields))
    _RESOLVED.add(schema)


#: The classes whose types are resolved.
_RESOLVED: WeakSet[type] = WeakSet()


def is_source(field: attrs.Attribute[Any]) -> bool:
    """True if the loader fills a field with the place of its object."""
    return field.name == "source" and field.type in {Source, Source | None}


def is_sources(field: attrs.Attribute[Any]) -> bool:
    """True if the loader fills a field with the place of each value of its object, by the value's path.

    The path of a value is ``key``, ``key.name`` in a mapping and ``key[0]`` in a list.
    """
    wanted = field.type
    return field.name == "sources" and get_origin(wanted) is Mapping and get_args(wanted) == (str, Source)


def is_files(field: attrs.Attribute[Any]) -> bool:
    """True if the loader fills a field with the texts of the plugin's files, by name."""
    wanted = field.type
    return field.name == "files" and get_origin(wanted) is Mapping and get_args(wanted) == (str, str)


def is_knobs(field: attrs.Attribute[Any]) -> bool:
    """True if the loader fills a field with the knobs that the plugin owns by patterns, by name."""
    wanted = field.type
    return field.name == "knobs" and get_origin(wanted) is Mapping and get_args(wanted) == (str, ScalarText)


#: In the order of the fields of ``ClassSchema``.
_FILLED = (is_source, is_sources, is_files, is_knobs)


def is_expression(wanted: Any) -> bool:
    """True for a ClassAd expression."""
    return isinstance(wanted, type) and issubclass(wanted, Expression)


def is_enum(wanted: Any) -> bool:
    """True for an enumeration."""
    return isinstance(wanted, type) and issubclass(wanted, enum.Enum)


def is_list(wanted: Any) -> bool:
    """True for ``list[X]`` and ``tuple[X, ...]``."""
    arguments = get_args(wanted)
    if get_origin(wanted) is tuple:
        return len(arguments) == 2 and arguments[1] is Ellipsis
    return get_origin(wanted) is list


def is_dict(wanted: Any) -> bool:
    """True for ``dict[str, X]``."""
    return get_origin(wanted) is dict and get_args(wanted)[0] is str


def is_union(wanted: Any) -> bool:
    """True for ``X | None``, for an enumeration or an expression, and for a text or something else as it is written."""
    if get_origin(wanted) not in {Union, types.UnionType}:
        return False
    members = union_members(wanted)
    either = Expression in members and any(map(is_enum, members))
    return len(members) == 1 or (len(members) == 2 and (either or ScalarText in members))


def union_members(wanted: Any) -> list[Any]:
    """Return the members of a union without None."""
    return [member for member in get_args(wanted) if member is not type(None)]


def faults(schema: type) -> Iterator[str]:
    """Yield why a class can't be built from a bundle."""
    waiting, seen = [schema], {schema}
    while waiting:
        current = waiting.pop()
        try:
            keys = list(keys_of(current))
        except Exception as error:  # noqa: BLE001 - annotations of a plugin's class may raise anything
            yield f"the annotations of {current.__name__} can't be resolved: {describe_error(error)}"
            continue
        for field in attrs.fields(current) if current is not schema else ():
            if is_files(field) or is_knobs(field):
                name = field.name
                yield f"{current.__name__}.{name}: only the class of the section itself can have {name}"
        for key in keys:
            for leaf in _leaves(key.field.type):
                if isinstance(leaf, type) and attrs.has(leaf):
                    waiting += {leaf} - seen
                    seen.add(leaf)
                elif leaf not in SCALARS and not is_enum(leaf):
                    yield f"{current.__name__}.{key.field.name} has a type that settings can't have: {leaf}"


def _leaves(wanted: Any) -> Iterator[Any]:
    """Yield the types inside lists, mappings and unions, at any depth."""
    waiting = [wanted]
    while waiting:
        current = waiting.pop()
        if is_list(current):
            waiting.append(get_args(current)[0])
        elif is_dict(current):
            waiting.append(get_args(current)[1])
        elif is_union(current):
            waiting += union_members(current)
        elif not is_expression(current):
            yield current
