"""The values of HTCondor-style files by the keys and the patterns of knobs that plugins own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import attrs

from negotiator.bundle.condor_lines import Definition
from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.cycle_intervals import INTERVAL_KNOBS
from negotiator.bundle.knob_owners import KnobOwners
from negotiator.bundle.known_settings import KnownSettings
from negotiator.bundle.no_effect import unused_knobs
from negotiator.bundle.nodes import BadNode, MapEntry, MapNode, ScalarNode, Style, is_unset
from negotiator.bundle.time_limits import TIME_KNOBS
from negotiator.records import Problem, Severity

CORE = "the core"


@attrs.frozen(eq=False)
class KnobEntries:
    """The values of HTCondor-style files by the keys that plugins own, macros replaced.

    ``ignored`` has a notice for each of the settings that the problems only sum up, ``unset`` a warning for each without value.
    """

    entries: Mapping[str, MapEntry]
    problems: tuple[Problem, ...]
    ignored: tuple[Problem, ...]
    unset: tuple[Problem, ...]


def knob_entries(
    knobs: Knobs, top: MapNode, owners: KnobOwners, known: KnownSettings, refusal: str = ""
) -> KnobEntries:
    """Return the values of HTCondor-style files by the keys that plugins own, and the problems of all others.

    :param known: the settings that plugins know, with their defaults.
    :param refusal: why a plugin was refused, which may own some of the names; empty if none was.
    """
    knobs.predefine(known.defaults())
    core_knobs = frozenset((*TIME_KNOBS.values(), *INTERVAL_KNOBS))
    owned = {key.lower(): key for key, owner in owners.keys.items() if owner != CORE or key in core_knobs}
    of_patterns = {key.lower(): key for key in top.entries if owners.of_pattern(key)}
    entries: dict[str, MapEntry] = {}
    problems: list[Problem] = []
    unset: list[Problem] = []
    rest = []
    for name in knobs.names():
        plain = name.removeprefix(SUBSYSTEM)
        definition = knobs.definitions(name)[-1]
        key = owned.get(plain, "")
        if owners.of_pattern(plain):
            key = of_patterns.get(plain, definition.name[-len(plain) :])
        if not key:
            rest.append(name)
            continue
        problems += _overridden(knobs, name)
        if name == plain and SUBSYSTEM + name in knobs.names():
            message = f"{definition.name} has no effect: {SUBSYSTEM}{name} takes precedence"
            problems.append(
                definition.file.problem(Severity.WARNING, definition.at, message, "remove one of the two")
            )
            continue
        value = knobs.expand(name)
        if isinstance(value, Problem):
            problems.append(value)
            entries[key] = MapEntry(definition.at, BadNode(key, definition.file, definition.at))
        else:
            entries[key] = MapEntry(definition.at, ScalarNode(key, value.at, value, Style.KNOB))
        if is_unset(entries[key].value):
            unset += _unset(definition, plain, known)
        elif key in top.entries:
            problems += _set_twice(key, definition, top)
    unused = unused_knobs(knobs, rest, owned, known, refusal)
    return KnobEntries(entries, (*problems, *unused.problems), unused.others, tuple(unset))


def _set_twice(key: str, definition: Definition, top: MapNode) -> Iterator[Problem]:
    here, there = definition.file.place(definition.at), top.file.place(top.entries[key].at)
    message = f"{key} is set here and in {there}; neither takes precedence"
    yield definition.file.error(definition.at, message, f"remove it here or in {there.file}")
    yield top.file.error(top.entries[key].at, f"{key} is set here and in {here}")


def _unset(definition: Definition, name: str, known: KnownSettings) -> Iterator[Problem]:
    """Yield a warning for a setting without a value, unless its default is empty too."""
    setting = known.find(name)
    if setting is None or setting.is_pattern or setting.default:
        own = setting is None or setting.is_pattern
        message = f"{definition.name} has no value{': it sets no policy' if own else ''}"
        hint = "write an expression, or remove the line"
        yield definition.file.problem(Severity.WARNING, definition.at, message, hint)


def _overridden(knobs: Knobs, name: str) -> Iterator[Problem]:
    for earlier, later in pairwise(knobs.definitions(name)):
        if earlier.value.source != later.value.source and not knobs.refers_to_itself(later):
            message = f"{earlier.name} is overridden in {later.file.place(later.at)}"
            yield earlier.file.problem(Severity.NOTICE, earlier.at, message, "remove one of the two")
