"""Reads a YAML file of the program's own into a record, and reports all of its problems at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TypeVar

from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.text import decoded
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.errors import SettingsError
from negotiator.files import open_regular
from negotiator.records import Problem, Severity, Source

R = TypeVar("R")

_LARGEST: Final = 1 << 20  # bytes


def read_record(path: Path, schema: type[R]) -> R:
    """Return the record that a file has.

    :param schema: its class, an attrs class.
    :raises SettingsError: it cannot be read, or has errors: all of them, with line and column.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise _refused(path, f"the file cannot be read: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise _refused(path, f"the file is larger than {_LARGEST} bytes")
    file, broken = decoded(str(path), content)
    if broken is not None:
        raise SettingsError([broken], str(path))
    root, problems = read_yaml(file)
    builder = ObjectBuilder(lambda _: ("a path is not expected", ""))
    built = INVALID if root is None else builder.value(root, schema)
    found = (*problems, *builder.problems)
    if built is INVALID or found:
        raise SettingsError(found, str(path))
    record: R = built
    return record


def _refused(path: Path, message: str) -> SettingsError:
    return SettingsError([Problem(Severity.ERROR, Source(str(path)), message)], str(path))
