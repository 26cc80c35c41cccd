"""Reads ``negotiator.yaml``, the static configuration of the service, and reports all of its problems at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_type_hints

import attrs

from negotiator.app.service_checks import value_problem
from negotiator.app.service_settings import KEYS, URL_KEY, ServiceSettings
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.schema import is_union, union_members
from negotiator.bundle.text import MapEntry, MapNode, SourceText, decoded, shown
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.errors import SettingsError
from negotiator.files import UntrustedError, check_trusted, open_regular
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable, suggest

#: Settings of the specification that decide about jobs, and so are part of the bundle and its digest.
_OF_THE_BUNDLE: Final = {
    "containers_at_once": "match: fill",
    "preemption_interval": "queue_preemption: interval",
    "preemption_threshold": "queue_preemption: threshold",
}
#: Names of other programs, and of the bundle.
_MEANT: Final = {
    "scheduleracl": "scheduler_acl",
    "plugins_dirs": "plugins_dir",
    "audit_key": "key_file",
    "reload": "watch",
}


@attrs.frozen
class ServiceFile:
    """The valid values of a file by key, the place of each, and the problems of the rest, with their keys."""

    path: Path
    values: Mapping[str, Any]
    sources: Mapping[str, Source]
    problems: tuple[Problem, ...] = ()
    invalid: frozenset[str] = frozenset()

    def missing(self, key: str) -> SettingsError:
        """Return the exception for a file or folder that a command needs, and that cannot be read."""
        message = (
            f"{key}: {printable(str(self.values[key]))}: it does not exist, or this user may not read it"
        )
        wrong = Problem(Severity.ERROR, self.sources[key], message)
        return SettingsError([wrong], str(self.path))


def read_service_file(path: Path) -> ServiceFile:
    """Return the settings in a file; the paths in it are relative to its folder. Problems are returned, not raised."""
    try:
        content = _content(path)
    except UntrustedError as error:
        return _unreadable(path, error.message, error.hint)
    except OSError as error:
        return _unreadable(path, f"the file cannot be read: {error.strerror or error}")
    file, broken = decoded(str(path), content)
    if broken is not None:
        return ServiceFile(path, {}, {}, (broken,))
    top, problems = read_yaml(file)
    return _settings(path, top or MapNode("", file, 0), file, problems)


def _content(path: Path) -> bytes:
    """Return the bytes of a file that no other user wrote: it names code that the service runs.

    :raises OSError: it cannot be read.
    :raises UntrustedError: another user could have written it.
    """
    with os.fdopen(open_regular(path), "rb") as stream:
        check_trusted(path, os.fstat(stream.fileno()))
        return stream.read()


def _settings(path: Path, top: MapNode, file: SourceText, problems: tuple[Problem, ...]) -> ServiceFile:
    builder = ObjectBuilder(_FileFolder(path.absolute().parent))
    types = get_type_hints(ServiceSettings) | {URL_KEY: str}  # the option makes a URL of it
    values: dict[str, Any] = {}
    found = list(problems)
    for key, entry in top.entries.items():
        if key not in KEYS:
            found.append(_unknown(key, entry, file))
            continue
        value = builder.value(entry.value, type_of_value(types[key]))
        wrong = None if value is INVALID else value_problem(key, value)
        if wrong is not None:
            found.append(file.error(entry.value.at, f"{key}: {wrong[0]}", wrong[1]))
        elif value is not INVALID:
            values[key] = value
    sources = {key: file.place(top.entries[key].at) for key in values}
    invalid = frozenset(KEYS) & top.entries.keys() - values.keys()
    every = sorted(map(_without_secret, (*found, *builder.problems)), key=lambda each: each.source)
    return ServiceFile(path, values, sources, tuple(every), invalid)


def _without_secret(problem: Problem) -> Problem:
    """Return a problem without the line of a URL, which may have a password."""
    has_url = URL_KEY in problem.excerpt or "://" in problem.excerpt
    return attrs.evolve(problem, excerpt="") if has_url else problem


def type_of_value(wanted: Any) -> Any:
    """Return the type of the values of a key: a key without a value is not a way to leave it out."""
    return union_members(wanted)[0] if is_union(wanted) else wanted


def _unknown(key: str, entry: MapEntry, file: SourceText) -> Problem:
    if key in _OF_THE_BUNDLE:
        hint = f"write {_OF_THE_BUNDLE[key]} into pool.yaml of the bundle: it decides about jobs"
    else:
        hint = f"did you mean {_MEANT[key]}?" if key in _MEANT else suggest(key, KEYS)
    return file.error(entry.at, f"unknown key {shown(key)}", hint)


@attrs.frozen
class _FileFolder:
    """Resolves the paths of a file: they are relative to its folder."""

    folder: Path

    def __call__(self, text: str) -> Path | tuple[str, str]:
        """Return the path, or a message and a hint."""
        if "\0" in text or not text.strip():
            return "expected a path", ""
        return self.folder / text


def _unreadable(path: Path, message: str, hint: str = "") -> ServiceFile:
    return ServiceFile(path, {}, {}, (Problem(Severity.ERROR, Source(str(path)), message, hint),))
