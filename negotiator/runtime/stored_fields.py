"""Fields of records that are read back from a file: each checks its value."""

from __future__ import annotations

from typing import Any

import attrs
from attrs.validators import deep_iterable, deep_mapping, instance_of, optional


def text() -> Any:
    """A text."""
    return attrs.field(validator=instance_of(str))


def optional_text() -> Any:
    """A text, empty if it is missing."""
    return attrs.field(default="", validator=instance_of(str))


def texts() -> Any:
    """A sequence of texts, empty if it is missing."""
    return attrs.field(default=(), converter=tuple, validator=deep_iterable(instance_of(str)))


def integer() -> Any:
    """An integer."""
    return attrs.field(validator=instance_of(int))


def counter() -> Any:
    """An integer, 0 if it is missing."""
    return attrs.field(default=0, validator=instance_of(int))


def number() -> Any:
    """A number, such as of seconds."""
    return attrs.field(validator=instance_of((int, float)))


def optional_number() -> Any:
    """A number or None."""
    return attrs.field(default=None, validator=optional(instance_of((int, float))))


def numbers() -> Any:
    """Numbers by name, none if they are missing."""
    return attrs.field(
        factory=dict, validator=deep_mapping(instance_of(str), instance_of((int, float)), instance_of(dict))
    )


def records(kind: type) -> Any:
    """A tuple of records of a class, empty if it is missing."""
    return attrs.field(default=(), validator=deep_iterable(instance_of(kind), instance_of(tuple)))
