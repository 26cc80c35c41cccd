"""The owner of each key of a bundle, and the settings of each plugin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

import attrs

from negotiator.bundle.condor_lines import Definition
from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.file_owners import FileOwners, assign_files
from negotiator.bundle.negotiator_knobs import EMPTY
from negotiator.bundle.no_effect import not_checked, unused_knobs
from negotiator.bundle.nodes import BadNode, MapEntry, MapNode, ScalarNode, Style, shown
from negotiator.bundle.object_builder import INVALID, ObjectBuilder, Refuse
from negotiator.bundle.plugin_failures import failure_problems
from negotiator.bundle.schema import ClassSchema, faults, keys_of
from negotiator.bundle.text import SourceText
from negotiator.hooks import specs
from negotiator.hooks.failures import describe_error
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import Attributed, HookManager
from negotiator.hooks.records import Section
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

CORE = "the core"
CORE_KEYS = ("plugins", "audit", "placement", "accounting", "order", "kill", "notify")
MAX_PROBLEMS = 1_000  # of one plugin's check, which may be a generator that never ends


@attrs.define(eq=False)
class SectionLayout:
    """The sections of all plugins, and the owner of each key and file."""

    sections: tuple[Attributed[Section], ...]
    refused: frozenset[str]  # the plugins whose section was refused or failed
    owners: Mapping[str, str]
    problems: tuple[Problem, ...]
    file_owners: FileOwners


def lay_out(hooks: HookManager) -> SectionLayout:
    """Ask the plugins for their sections; each key belongs to one plugin."""
    answers = hooks.ask(specs.negotiator_section)
    origins = {plugin.name: plugin.origin for plugin in hooks.plugins}
    problems = [*failure_problems(hooks, answers.failures)]
    owners = dict.fromkeys(CORE_KEYS, CORE)
    folded = {key.lower(): key for key in owners}
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
        sections.append(attributed)
    file_owners, more = assign_files(sections, origins)
    return SectionLayout(tuple(sections), frozenset(refused), owners, (*problems, *more), file_owners)


def _faults(section: Section) -> Iterator[str]:
    """Yield why the class of a section can't be built."""
    found = list(faults(section.schema))
    yield from found
    if found:
        return
    name, wanted = section.schema.__name__, "files: Mapping[str, str]"
    filled = bool(ClassSchema.of(section.schema).files)
    if section.files and not filled:
        yield f"{name} needs a field `{wanted}` for the files that its section names"
    if filled and not section.files:
        yield f"{name} has a field `{wanted}`, but its section names no files"
    for key in {*section.apart} - {key.name for key in keys_of(section.schema)}:
        yield f"{name} has no key {shown(key)}, which its section reads from a file of its own"


def unknown_keys(top: MapNode, owners: Iterable[str], refusal: str = "") -> Iterator[Problem]:
    """Yield a problem for each top-level key of ``pool.yaml`` without owner.

    :param refusal: why a plugin was refused, which may own some of the keys; empty if none was.
    """
    known = set(owners)
    for key, entry in top.entries.items():
        if key in known:
            continue
        near = suggest(key, known, listed=not refusal)
        if not refusal:
            yield top.file.error(entry.at, f"unknown key {shown(key)}", near)
        else:
            message, hint = not_checked(shown(key), refusal)
            hint = f"{hint}; or {near}" if near else hint
            yield top.file.problem(Severity.WARNING, entry.at, message, hint)


@attrs.frozen(eq=False)
class KnobEntries:
    """The values of HTCondor-style files by the keys that plugins own, macros replaced.

    ``ignored`` has a notice for each of the settings that the problems only sum up, ``unset`` a warning for each without value.
    """

    entries: Mapping[str, MapEntry]
    problems: tuple[Problem, ...]
    ignored: tuple[Problem, ...]
    unset: tuple[Problem, ...]


def knob_entries(knobs: Knobs, top: MapNode, owners: Mapping[str, str], refusal: str = "") -> KnobEntries:
    """Return the values of HTCondor-style files by the keys that plugins own, and the problems of all others.

    :param refusal: why a plugin was refused, which may own some of the names; empty if none was.
    """
    owned = {key.lower(): key for key, owner in owners.items() if owner != CORE}
    entries: dict[str, MapEntry] = {}
    problems: list[Problem] = []
    unset: list[Problem] = []
    rest = []
    for name in knobs.names():
        plain = name.removeprefix(SUBSYSTEM)
        if plain not in owned:
            rest.append(name)
            continue
        definition = knobs.definitions(name)[-1]
        problems += _overridden(knobs, name)
        if name == plain and SUBSYSTEM + name in knobs.names():
            message = f"{definition.name} has no effect: {SUBSYSTEM}{name} takes precedence"
            problems.append(
                definition.file.problem(Severity.WARNING, definition.at, message, "remove one of the two")
            )
            continue
        key = owned[plain]
        value = knobs.expand(name)
        if isinstance(value, Problem):
            problems.append(value)
            entries[key] = MapEntry(definition.at, BadNode(key, definition.file, definition.at))
        elif not value.text.strip():
            unset += _unset(definition, plain)  # "NAME =" unsets it
            continue
        else:
            entries[key] = MapEntry(definition.at, ScalarNode(key, value.at, value, Style.KNOB))
        if key in top.entries:
            here, there = definition.file.place(definition.at), top.file.place(top.entries[key].at)
            message = f"{key} is set here and in {there}; neither takes precedence"
            problems.append(
                definition.file.error(definition.at, message, f"remove it here or in {there.file}")
            )
            problems.append(top.file.error(top.entries[key].at, f"{key} is set here and in {here}"))
    unused = unused_knobs(knobs, rest, owned, refusal)
    return KnobEntries(entries, (*problems, *unused.problems), unused.others, tuple(unset))


def _unset(definition: Definition, name: str) -> Iterator[Problem]:
    """Yield a warning for a setting without a value, unless HTCondor has none for it either."""
    if name not in EMPTY:
        message = f"{definition.name} has no value: it sets no policy"
        hint = "write an expression, or remove the line"
        yield definition.file.problem(Severity.WARNING, definition.at, message, hint)


def settings_of(
    attributed: Attributed[Section],
    entries: Mapping[str, MapEntry],
    builder: ObjectBuilder,
    file: SourceText,
    files: Mapping[str, str] | None,
) -> Any:
    """Return the settings of one plugin, or INVALID; problems of the plugin's own check are added to the builder's.

    :param entries: the entries of all plugins by key.
    :param file: the file that an error names if the plugin has no key in the bundle.
    :param files: the texts of the files that belong to the plugin; None if one of them is not a text.
    """
    section = attributed.record
    own = {key.name: entries[key.name] for key in keys_of(section.schema) if key.name in entries}
    place = min(
        ((entry.value.file.name != file.name, entry.at, entry.value.file) for entry in own.values()),
        key=lambda each: each[:2],
        default=None,
    )
    at, where = (place[1], place[2]) if place else (0, file)

    def refuse(message: str) -> Problem:
        return where.error(at, f"plugin {attributed.plugin}: {message}")

    source = where.place(at) if place else Source(file.name)
    settings = builder.build(section.schema, own, source, refuse, files or {})
    if files is None:  # other files would be reported for names that the broken file defines
        return INVALID
    if settings is not INVALID and section.check is not None:
        builder.problems += _checked(section, settings, refuse)
    return settings


def _checked(section: Section, settings: Any, refuse: Refuse) -> Iterator[Problem]:
    """Yield the problems of a plugin's check; a check that fails or yields anything else is an error."""
    try:
        for each in islice(section.check(settings) if section.check else (), MAX_PROBLEMS):
            if isinstance(each, Problem):
                yield each if each.source.file else attrs.evolve(each, source=refuse("").source)
            else:
                yield refuse(f"its check must yield Problem, got {type(each).__name__}")
    except BaseException as error:  # noqa: BLE001 - the check of a plugin may raise anything
        raise_if_interrupted(error)
        yield refuse(f"its check failed: {describe_error(error)}")


def _overridden(knobs: Knobs, name: str) -> Iterator[Problem]:
    for earlier, later in pairwise(knobs.definitions(name)):
        if earlier.value.source != later.value.source and not knobs.refers_to_itself(later):
            message = f"{earlier.name} is overridden in {later.file.place(later.at)}"
            yield earlier.file.problem(Severity.NOTICE, earlier.at, message, "remove one of the two")
