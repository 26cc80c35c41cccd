"""The owner of each key of a bundle, and of each file at its top; and the settings of each plugin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any

import attrs

from negotiator.bundle.folder import MAIN, QUEUES, is_settings_file
from negotiator.bundle.knob_entries import CORE, KnobOwners, assign_patterns
from negotiator.bundle.match_expressions import MATCH_EXPRESSIONS
from negotiator.bundle.no_effect import KnownSettings, not_checked
from negotiator.bundle.object_builder import INVALID, ObjectBuilder, Refuse
from negotiator.bundle.plugin_failures import failure_problems, plugin_source
from negotiator.bundle.schema import ClassSchema, faults, keys_of
from negotiator.bundle.text import MapEntry, MapNode, SourceText, is_unset, shown
from negotiator.bundle.time_limits import INTERVAL_KNOBS, TIME_KNOBS
from negotiator.hooks import specs
from negotiator.hooks.declarations import Section
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import Attributed, HookManager
from negotiator.queues import PartitionConfig
from negotiator.records import Problem, ScalarText, Severity, Source
from negotiator.records.text import printable, suggest

CORE_KEYS = (
    *(
        "plugins",
        "audit",
        "placement",
        "accounting",
        "order",
        "source",
        "match",
        "reuse",
        "overruns",
        "overrun_grace",
        "kill",
        "notify",
    ),
    *TIME_KNOBS.values(),
    *INTERVAL_KNOBS,
    MATCH_EXPRESSIONS,
)
MAX_PROBLEMS = 1_000  # of one plugin's check, which may be a generator that never ends
_CORE = "the core"


@attrs.define(eq=False)
class SectionLayout:
    """The sections of all plugins, and the owner of each key and file."""

    sections: tuple[Attributed[Section], ...]
    refused: frozenset[str]  # the plugins whose section was refused or failed
    owners: KnobOwners
    problems: tuple[Problem, ...]
    file_owners: FileOwners
    known: KnownSettings


def lay_out(hooks: HookManager) -> SectionLayout:
    """Ask the plugins for their sections; each key belongs to one plugin."""
    answers = hooks.ask(specs.negotiator_section)
    origins = {plugin.name: plugin.origin for plugin in hooks.plugins}
    problems = [*failure_problems(hooks, answers.failures)]
    owners = dict.fromkeys(CORE_KEYS, CORE)
    folded = {key.lower(): key for key in owners}
    patterns: dict[str, str] = {}
    of_pool: dict[str, str] = {}
    sections = []
    refused = {failure.plugin for failure in answers.failures}
    for attributed in answers.records:
        source = Source(origins.get(attributed.plugin, attributed.plugin))
        wrong = list(_faults(attributed.record))
        if wrong:
            hint = "negotiator.plugin.Section lists the types that a class may have; define the class at the top of a module"
            problems += (
                Problem(Severity.ERROR, source, f"plugin {attributed.plugin}: {fault}", hint)
                for fault in wrong
            )
            refused.add(attributed.plugin)
            continue
        for key in (each.name for each in keys_of(attributed.record.schema)):
            if key.lower() in folded:
                other = owners[folded[key.lower()]]
                owner = CORE if other == CORE else f"plugin {other}"
                message = f"the key {shown(key)} of plugin {attributed.plugin} already belongs to {owner}"
                problems.append(Problem(Severity.ERROR, source, message, "disable one of the two plugins"))
            else:
                owners[key] = attributed.plugin
                folded[key.lower()] = key
        problems += assign_patterns(attributed.plugin, attributed.record.knobs, source, patterns)
        problems += assign_patterns(attributed.plugin, attributed.record.pool_knobs, source, of_pool)
        sections.append(attributed)
    file_owners, more = assign_files(sections, origins)
    knobs = KnobOwners(owners, patterns, of_pool)
    known = KnownSettings(each for attributed in sections for each in attributed.record.known)
    return SectionLayout(tuple(sections), frozenset(refused), knobs, (*problems, *more), file_owners, known)


def _faults(section: Section) -> Iterator[str]:
    """Yield why the class of a section can't be built."""
    found = list(faults(section.schema))
    yield from found
    if found:
        return
    name, schema = section.schema.__name__, ClassSchema.of(section.schema)
    for what, wanted, patterns, fields in (
        ("files", "files: Mapping[str, str]", section.files, schema.files),
        ("knobs", "knobs: Mapping[str, ScalarText]", section.knobs or section.pool_knobs, schema.knobs),
    ):
        if patterns and not fields:
            yield f"{name} needs a field `{wanted}` for the {what} that its section names"
        if fields and not patterns:
            yield f"{name} has a field `{wanted}`, but its section names no {what}"
    for key in {*section.apart} - {key.name for key in keys_of(section.schema)}:
        yield f"{name} has no key {shown(key)}, which its section reads from a file of its own"


def unknown_keys(
    top: MapNode, owners: KnobOwners, settings: KnownSettings, refusal: str = ""
) -> Iterator[Problem]:
    """Yield a problem for each top-level key of ``pool.yaml`` without owner.

    :param settings: those of another program, which are explained.
    :param refusal: why a plugin was refused, which may own some of the keys; empty if none was.
    """
    known = set(owners.keys)
    yield from owners.repeated(top)
    for key, entry in top.entries.items():
        if key in known or owners.of_pattern(key):
            continue
        near = suggest(key, known, listed=not refusal)
        setting = settings.find(key)
        if setting is not None and setting.reason and not setting.is_pattern:
            yield entry.value.file.error(
                entry.at, f"unknown key {shown(key)}: {setting.reason}", setting.hint
            )
        elif not refusal:
            yield entry.value.file.error(entry.at, f"unknown key {shown(key)}", near)
        else:
            message, hint = not_checked(shown(key), refusal)
            hint = f"{hint}; or {near}" if near else hint
            yield entry.value.file.problem(Severity.WARNING, entry.at, message, hint)


def settings_of(
    attributed: Attributed[Section],
    entries: Mapping[str, MapEntry],
    owners: KnobOwners,
    builder: ObjectBuilder,
    file: SourceText,
    files: Mapping[str, str] | None,
    of_pool: Mapping[str, MapEntry] = MappingProxyType({}),
) -> Any:
    """Return the settings of one plugin, or INVALID; problems of the plugin's own check are added to the builder's.

    :param entries: the entries of all plugins by key.
    :param file: the file that an error names if the plugin has no key in the bundle.
    :param files: the texts of the files that belong to the plugin; None if one of them is not a text.
    :param of_pool: the settings that all plugins read of the pool's own configuration alone, by name.
    """
    section = attributed.record
    own = {key.name: entries[key.name] for key in keys_of(section.schema) if key.name in entries}
    knobs = owners.of_plugin(attributed.plugin, entries)
    written = (*own.values(), *knobs.values())
    place = min(
        ((entry.value.file.name != file.name, entry.at, entry.value.file) for entry in written),
        key=lambda each: each[:2],
        default=None,
    )
    at, where = (place[1], place[2]) if place else (0, file)

    def refuse(message: str) -> Problem:
        return where.error(at, f"plugin {attributed.plugin}: {message}")

    source = where.place(at) if place else Source(file.name)
    texts = {
        name: builder.value(entry.value, ScalarText)
        for name, entry in knobs.items()
        if not is_unset(entry.value)
    }
    texts |= {
        name: builder.value(entry.value, ScalarText)
        for name, entry in of_pool.items()
        if owners.of_pool_pattern(name) == attributed.plugin
    }
    settings = builder.build(section.schema, own, source, refuse, files=files or {}, knobs=texts)
    if files is None:  # other files would be reported for names that the broken file defines
        return INVALID
    if settings is not INVALID and section.check is not None:
        builder.problems += _checked(partial(section.check, settings), refuse)
    return settings


def queue_problems(
    sections: Iterable[Attributed[Section]],
    settings: Mapping[str, Any],
    partition: PartitionConfig,
    hooks: HookManager,
) -> Iterator[Problem]:
    """Yield what plugins find by comparing their settings with the queues."""
    for each in sections:
        check = each.record.check_queues
        if check is not None and each.plugin in settings:
            refuse = partial(_refused, plugin_source(hooks, each.plugin), each.plugin)
            yield from _checked(partial(check, settings[each.plugin], partition), refuse)


def _refused(source: Source, plugin: str, message: str) -> Problem:
    return Problem(Severity.ERROR, source, f"plugin {plugin}: {message}")


def _checked(check: Callable[[], Iterable[Problem]], refuse: Refuse) -> Iterator[Problem]:
    """Yield the problems of a plugin's check; a check that fails or yields anything else is an error."""
    try:
        for each in islice(check(), MAX_PROBLEMS):
            if isinstance(each, Problem):
                yield each if each.source.file else attrs.evolve(each, source=refuse("").source)
            else:
                yield refuse(f"its check must yield Problem, got {type(each).__name__}")
    except BaseException as error:  # noqa: BLE001 - the check of a plugin may raise anything
        raise_if_interrupted(error)
        yield refuse(f"its check failed: {describe_error(error)}")


@attrs.frozen
class FileOwners:
    """The plugin that reads each pattern of file names."""

    owners: Mapping[str, str] = attrs.field(factory=dict)

    def owner(self, name: str) -> str:
        """Return the plugin that reads a file, or an empty string. ``name`` is relative to the folder."""
        return next(iter(self._all(name)), "")

    def of(self, plugin: str, names: Iterable[str]) -> list[str]:
        """Return the sorted names of the files that a plugin reads."""
        if plugin not in self.owners.values():
            return []
        return sorted(name for name in names if self.owner(name) == plugin)

    def conflicts(self, names: Iterable[str]) -> Iterator[Problem]:
        """Yield an error for each file with more than one owner."""
        for name in sorted(names):
            found = [f"plugin {plugin} ({pattern})" for plugin, pattern in self._all(name).items()]
            if is_settings_file(name):
                found.insert(0, _CORE)
            if len(found) > 1:
                message = f"this file belongs to {found[0]} and to {found[1]}"
                hint = "rename the file, or disable a plugin"
                yield Problem(Severity.ERROR, Source(printable(name)), message, hint)

    def _all(self, name: str) -> dict[str, str]:
        """Return the plugins whose patterns match a name, in their order, each with its first matching pattern."""
        if "/" in name:
            return {}
        matching = (pattern for pattern in self.owners if fnmatchcase(name, pattern))
        found: dict[str, str] = {}
        for pattern in matching:
            found.setdefault(self.owners[pattern], pattern)
        return found


def assign_files(
    sections: Iterable[Attributed[Section]], origins: Mapping[str, str]
) -> tuple[FileOwners, tuple[Problem, ...]]:
    """Assign each pattern of file names to one plugin.

    :param origins: where each plugin was loaded from, for problems.
    """
    owners: dict[str, str] = {}
    problems = []
    for attributed in sections:
        source = Source(origins.get(attributed.plugin, attributed.plugin))
        for pattern in attributed.record.patterns:
            other = _CORE if _is_core(pattern) else owners.setdefault(pattern, attributed.plugin)
            if other != attributed.plugin:
                owner = other if other == _CORE else f"plugin {other}"
                message = f"the files {pattern!r} of plugin {attributed.plugin} already belong to {owner}"
                hint = "use other names" if other == _CORE else "disable one of the two plugins"
                problems.append(Problem(Severity.ERROR, source, message, hint))
    return FileOwners(owners), tuple(problems)


def _is_core(pattern: str) -> bool:
    """True if a pattern covers settings of the core; ``*.conf`` itself is the name of such a file."""
    return is_settings_file(pattern) or any(fnmatchcase(name, pattern) for name in (MAIN, QUEUES))
