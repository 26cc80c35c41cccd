"""Who owns which key of a bundle, and what stands under the keys of each owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import Any

import attrs

from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.file_owners import FileOwners, claim
from negotiator.bundle.nodes import BadNode, MapEntry, MapNode, ScalarNode, Style, shown
from negotiator.bundle.schema import ClassSchema, faults, keys_of
from negotiator.bundle.structure import INVALID, Refuse, Structurer
from negotiator.bundle.text import SourceText
from negotiator.hooks.guard import describe_error
from negotiator.hooks.manager import Attributed, HookManager
from negotiator.hooks.records import Section
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

CORE = "the core"
_PREFIX = (
    "negotiator_pe_"  # nobody but the specification has knobs of this name: one that is unknown is a slip
)
CORE_KEYS = ("plugins", "audit", "placement")
MAX_PROBLEMS = 1_000  # of one plugin's check, which may be a generator that never ends


@attrs.define(eq=False)
class SectionLayout:
    """The sections of all plugins, and the owner of each key."""

    sections: tuple[Attributed[Section], ...]
    refused: frozenset[str]  # the plugins whose section could not be had
    owners: Mapping[str, str]
    problems: tuple[Problem, ...]
    claims: FileOwners  # of files


def lay_out(hooks: HookManager) -> SectionLayout:
    """Ask the plugins for their sections and give each key to one of them."""
    answers = hooks.sections()
    origins = {plugin.name: plugin.origin for plugin in hooks.plugins}
    problems = [
        Problem(Severity.ERROR, Source(origins.get(failure.plugin, failure.plugin)), str(failure))
        for failure in answers.failures
    ]
    owners = dict.fromkeys(CORE_KEYS, CORE)
    folded = {key.lower(): key for key in owners}
    sections = []
    refused = {failure.plugin for failure in answers.failures}
    for stamped in answers.records:
        source = Source(origins.get(stamped.plugin, stamped.plugin))
        wrong = list(_faults(stamped.record))
        if wrong:
            hint = "see negotiator.hooks.Section for what a class may hold; define it at the top of a module"
            problems += (
                Problem(Severity.ERROR, source, f"plugin {stamped.plugin}: {fault}", hint) for fault in wrong
            )
            refused.add(stamped.plugin)
            continue
        for key in (each.name for each in keys_of(stamped.record.schema)):
            if key.lower() in folded:
                other = owners[folded[key.lower()]]
                whom = CORE if other == CORE else f"plugin {other}"
                message = f"the key {shown(key)} of plugin {stamped.plugin} belongs to {whom} already"
                problems.append(Problem(Severity.ERROR, source, message, "disable one of the two plugins"))
            else:
                owners[key] = stamped.plugin
                folded[key.lower()] = key
        sections.append(stamped)
    claims, more = claim(sections, origins)
    return SectionLayout(tuple(sections), frozenset(refused), owners, (*problems, *more), claims)


def _faults(section: Section) -> Iterator[str]:
    """Why the class of a section can't be filled; nothing where it can."""
    found = list(faults(section.schema))
    yield from found
    if found:
        return
    name, wanted = section.schema.__name__, "files: Mapping[str, str]"
    filled = bool(ClassSchema.of(section.schema).files)
    if section.files and not filled:
        yield f"{name} needs a field `{wanted}`, which its section's files are filled into"
    if filled and not section.files:
        yield f"{name} has a field `{wanted}`, and its section names no files"
    for key in {*section.apart} - {key.name for key in keys_of(section.schema)}:
        yield f"{name} has no key {shown(key)}, which its section puts apart"


def unknown_keys(top: MapNode, owners: Iterable[str]) -> Iterator[Problem]:
    """The top-level keys of ``pool.yaml`` that nobody owns."""
    known = set(owners)
    for key, entry in top.entries.items():
        if key not in known:
            yield top.file.error(entry.at, f"unknown key {shown(key)}", suggest(key, known))


def knob_entries(
    knobs: Knobs, top: MapNode, owners: Mapping[str, str]
) -> tuple[dict[str, MapEntry], list[Problem]]:
    """What HTCondor-style files say under keys that a plugin owns, without macros; and what is wrong with that."""
    owned = {key.lower(): key for key, owner in owners.items() if owner != CORE}
    entries: dict[str, MapEntry] = {}
    problems: list[Problem] = []
    rest = []
    for name in knobs.names():
        plain = name.removeprefix(SUBSYSTEM)
        if plain not in owned:
            rest.append(name)
            continue
        definition = knobs.definitions(name)[-1]
        problems += _overridden(knobs, name)
        if name == plain and SUBSYSTEM + name in knobs.names():
            message = f"{definition.name} has no effect: {SUBSYSTEM}{name} goes before it"
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
            continue  # NAME = says that it is not set
        else:
            entries[key] = MapEntry(definition.at, ScalarNode(key, value.at, value, Style.KNOB))
        if key in top.entries:
            here, there = definition.file.place(definition.at), top.file.place(top.entries[key].at)
            message = f"{key} is set here and in {there}; neither goes before the other"
            problems.append(
                definition.file.error(definition.at, message, f"remove it here or in {there.file}")
            )
            problems.append(top.file.error(top.entries[key].at, f"{key} is set here and in {here}"))
    return entries, [*problems, *_no_effect(knobs, rest, owned)]


def settings_of(
    stamped: Attributed[Section],
    entries: Mapping[str, MapEntry],
    structurer: Structurer,
    file: SourceText,
    files: Mapping[str, str] | None,
) -> Any:
    """The settings of one plugin, or INVALID; what its own check has against them counts, too.

    ``files`` are the texts of the files that belong to it; None where one of them is no text.
    """
    place = min((entry.at for entry in entries.values() if entry.value.file is file), default=0)

    def refuse(message: str) -> Problem:
        return file.error(place, f"plugin {stamped.plugin}: {message}")

    section = stamped.record
    own = {key.name: entries[key.name] for key in keys_of(section.schema) if key.name in entries}
    settings = structurer.build(section.schema, own, file.place(place), refuse, files or {})
    if files is None:  # to check the others would be to say what is missing in them
        return INVALID
    if settings is not INVALID and section.check is not None:
        structurer.problems += _checked(section, settings, refuse)
    return settings


def _checked(section: Section, settings: Any, refuse: Refuse) -> Iterator[Problem]:
    """What the check of a plugin says; a check that fails, or says something else than problems, is an error."""
    try:
        for each in islice(section.check(settings) if section.check else (), MAX_PROBLEMS):
            if isinstance(each, Problem):
                yield each if each.source.file else attrs.evolve(each, source=refuse("").source)
            else:
                yield refuse(f"its check gave {type(each).__name__} where a Problem is expected")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the check of a plugin may raise anything
        yield refuse(f"its check failed: {describe_error(error)}")


def _overridden(knobs: Knobs, name: str) -> Iterator[Problem]:
    for earlier, later in pairwise(knobs.definitions(name)):
        if not knobs.refers_to_itself(later):
            message = f"{earlier.name} is defined again in {later.file.place(later.at)}, which holds"
            yield earlier.file.problem(Severity.NOTICE, earlier.at, message, "remove one of the two")


def _no_effect(knobs: Knobs, names: Iterable[str], owned: Mapping[str, str]) -> Iterator[Problem]:
    """The knobs that nothing here reads. One that is set for somebody else may have been meant for us."""
    known = set(owned)
    for name in names:
        if knobs.was_used(name):
            continue
        definition = knobs.definitions(name)[-1]
        prefix, _, last = definition.name.rpartition(".")
        message = f"{definition.name} has no effect here"
        if prefix and last.lower() in known:
            yield definition.file.problem(
                Severity.WARNING, definition.at, f"{message}: it is set for {prefix}", f"write {last} = ..."
            )
        elif name.startswith(_PREFIX):
            hint = suggest(definition.name, owned.values()) if owned else "is the plugin it is for disabled?"
            yield definition.file.error(definition.at, f"there is no {definition.name}", hint)
        else:
            yield definition.file.problem(Severity.NOTICE, definition.at, message)
