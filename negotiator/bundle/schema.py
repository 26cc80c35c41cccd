"""What a plugin may declare as its part of a bundle: attrs classes with fields of a few types."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import attrs

from negotiator.hooks.guard import describe_error
from negotiator.hooks.records import Expression
from negotiator.records import Source

SCALARS = frozenset({str, int, float, bool, Path})


@attrs.frozen
class Key:
    """One key that a class has: the field that it fills."""

    name: str
    field: attrs.Attribute[Any]

    @property
    def required(self) -> bool:
        """Whether it may not be left out."""
        return self.field.default is attrs.NOTHING


@attrs.frozen
class ClassSchema:
    """What a class is made of: its keys by name, and the arguments that are filled in.

    ``places`` take the place of its object, ``files`` the texts of the files that belong to the plugin.
    """

    keys: Mapping[str, Key]
    places: tuple[str, ...]
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, schema: type) -> ClassSchema:
        """The shape of an attrs class. Raises as ``keys_of`` does."""
        keys = {key.name: key for key in keys_of(schema)}
        fields = [field for field in attrs.fields(schema) if field.init]
        places = (field.alias or field.name for field in fields if is_source(field))
        files = (field.alias or field.name for field in fields if is_files(field))
        return cls(keys, tuple(places), tuple(files))


def keys_of(schema: type) -> Iterator[Key]:
    """The keys of an attrs class. Raises what Python raises where its types can't be resolved."""
    for field in attrs.fields(attrs.resolve_types(schema)):
        if field.init and not is_source(field) and not is_files(field):
            yield Key(field.alias or field.name, field)


def is_source(field: attrs.Attribute[Any]) -> bool:
    """Whether a field is filled in with the place that its object was written at."""
    return field.name == "source" and field.type in {Source, Source | None}


def is_files(field: attrs.Attribute[Any]) -> bool:
    """Whether a field is filled in with the texts of the plugin's files, by name."""
    wanted = field.type
    return field.name == "files" and get_origin(wanted) is Mapping and get_args(wanted) == (str, str)


def is_enum(wanted: Any) -> bool:
    """Whether a type is an enumeration."""
    return isinstance(wanted, type) and issubclass(wanted, enum.Enum)


def is_list(wanted: Any) -> bool:
    """Whether a type is ``list[X]`` or ``tuple[X, ...]``."""
    arguments = get_args(wanted)
    if get_origin(wanted) is tuple:
        return len(arguments) == 2 and arguments[1] is Ellipsis
    return get_origin(wanted) is list


def is_dict(wanted: Any) -> bool:
    """Whether a type is ``dict[str, X]``."""
    return get_origin(wanted) is dict and get_args(wanted)[0] is str


def is_union(wanted: Any) -> bool:
    """Whether a type is ``X | None``, or an enumeration or else an expression."""
    if get_origin(wanted) not in {Union, types.UnionType}:
        return False
    members = union_members(wanted)
    return len(members) == 1 or (len(members) == 2 and Expression in members and any(map(is_enum, members)))


def union_members(wanted: Any) -> list[Any]:
    """The members of a union, but for None."""
    return [member for member in get_args(wanted) if member is not type(None)]


def faults(schema: type) -> Iterator[str]:
    """Why a class can't be made of what stands in a bundle; nothing where it can."""
    waiting, seen = [schema], {schema}
    while waiting:
        current = waiting.pop()
        try:
            keys = list(keys_of(current))
        except Exception as error:  # noqa: BLE001 - what the annotations of a plugin's class are is its own
            yield f"the types of {current.__name__} can't be resolved: {describe_error(error)}"
            continue
        if current is not schema and any(map(is_files, attrs.fields(current))):
            yield f"{current.__name__}.files: only the class of the section itself is given files"
        for key in keys:
            for leaf in _leaves(key.field.type):
                if isinstance(leaf, type) and attrs.has(leaf):
                    waiting += {leaf} - seen
                    seen.add(leaf)
                elif leaf not in SCALARS and not is_enum(leaf):
                    yield f"{current.__name__}.{key.field.name} has a type that a bundle can't hold: {leaf}"


def _leaves(wanted: Any) -> Iterator[Any]:
    """What lists, mappings and unions are made of in the end; what is none of these is a leaf itself."""
    waiting = [wanted]
    while waiting:
        current = waiting.pop()
        if is_list(current):
            waiting.append(get_args(current)[0])
        elif is_dict(current):
            waiting.append(get_args(current)[1])
        elif is_union(current):
            waiting += union_members(current)
        elif current is not Expression:
            yield current
