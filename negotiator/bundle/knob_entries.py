"""The values of HTCondor-style files and of the pool's own configuration, and the plugin that owns each key: by its fields, or by its patterns of knobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise

import attrs

from negotiator.bundle.condor_lines import Definition, is_dump
from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.match_expressions import MATCH_EXPRESSIONS, listed_macros
from negotiator.bundle.no_effect import KnownSettings, is_default, is_same_value, unused_knobs
from negotiator.bundle.text import BadNode, MapEntry, MapNode, ScalarNode, SourceText, Style, is_unset, shown
from negotiator.bundle.time_limits import INTERVAL_KNOBS, TIME_KNOBS
from negotiator.records import Problem, Severity, Source

CORE = "the core"
_POOL = "the pool's configuration"


@attrs.frozen(eq=False)
class KnobOwners:
    """The owners of ``keys`` by key, and of ``patterns`` by pattern in lower case.

    ``of_pool`` has the owners of names that count in the pool's own configuration alone, by pattern in lower case.
    A key takes precedence over patterns; if several patterns match a name, the longest one decides.
    """

    keys: Mapping[str, str]
    patterns: Mapping[str, str] = attrs.field(factory=dict)
    of_pool: Mapping[str, str] = attrs.field(factory=dict)

    def named(self, name: str) -> str:
        """Return the key with this name, upper and lower case being equal; empty if there is none."""
        return self._folded.get(name.lower(), "")

    def of_pattern(self, name: str) -> str:
        """Return the plugin that owns a name by a pattern; empty if there is none."""
        if self.named(name):
            return ""
        return _owner(name, self.patterns)

    def of_pool_pattern(self, name: str) -> str:
        """Return the plugin that owns a name of the pool's own configuration; empty if there is none."""
        return _owner(name, self.of_pool)

    def of_plugin(self, plugin: str, entries: Mapping[str, MapEntry]) -> dict[str, MapEntry]:
        """Return the entries that a plugin owns by its patterns."""
        if plugin not in self.patterns.values():
            return {}
        return {name: entry for name, entry in entries.items() if self.of_pattern(name) == plugin}

    def repeated(self, top: MapNode) -> Iterator[Problem]:
        """Yield an error for each name that ``pool.yaml`` has twice, in upper and in lower case."""
        seen: dict[str, str] = {}
        for name, entry in top.entries.items():
            if not self.of_pattern(name):
                continue
            first = seen.setdefault(name.lower(), name)
            if first != name:
                message = f"{shown(name)} is {shown(first)} again: upper and lower case are equal here"
                yield top.file.error(entry.at, message, "remove one of the two")

    @cached_property
    def _folded(self) -> Mapping[str, str]:
        return {key.lower(): key for key in self.keys}


def _owner(name: str, patterns: Mapping[str, str]) -> str:
    """Return the owner of the longest pattern that matches a name; empty if none does."""
    matching = (pattern for pattern in patterns if fnmatchcase(name.lower(), pattern))
    longest = max(matching, key=lambda pattern: (len(pattern), pattern), default="")
    return patterns.get(longest, "")


def assign_patterns(
    plugin: str, patterns: Iterable[str], source: Source, owners: dict[str, str]
) -> Iterable[Problem]:
    """Add the patterns of a plugin's knobs to ``owners``; return the problems of those that another plugin has."""
    problems = []
    for pattern in patterns:
        other = owners.setdefault(pattern.lower(), plugin)
        if other != plugin:
            message = f"the knobs {pattern} of plugin {plugin} already belong to plugin {other}"
            problems.append(Problem(Severity.ERROR, source, message, "disable one of the two plugins"))
    return problems


@attrs.frozen(eq=False)
class KnobEntries:
    """The values of HTCondor-style files by the keys that plugins own, macros replaced.

    ``of_pool`` are the settings that count in the pool's own configuration alone, by name in upper case. ``ignored`` has a notice
    for each of the settings that the problems only sum up, ``unset`` a warning for each without value, ``differences`` a
    warning for each value of the bundle other than that of the pool's configuration; they are among the problems.
    """

    entries: Mapping[str, MapEntry]
    problems: tuple[Problem, ...]
    ignored: tuple[Problem, ...]
    unset: tuple[Problem, ...]
    of_pool: Mapping[str, MapEntry] = attrs.field(factory=dict)
    differences: tuple[Problem, ...] = ()


def knob_entries(
    knobs: Knobs,
    top: MapNode,
    owners: KnobOwners,
    known: KnownSettings,
    refusal: str = "",
    pool: Knobs | None = None,
) -> KnobEntries:
    """Return the values of HTCondor-style files by the keys that plugins own, and the problems of all others.

    :param known: the settings that plugins know, with their defaults.
    :param refusal: why a plugin was refused, which may own some of the names; empty if none was.
    :param pool: the pool's own configuration. ``pool.yaml`` takes precedence over it; it takes precedence over the files, and
        replaces those that were printed from it.
    """
    if pool is None:
        return _KnobReading(knobs, top, owners, known, refusal).run()
    of_pool = _KnobReading(pool, top, owners, known, refusal, of_pool=True).run()
    comparison = _PoolComparison(knobs, of_pool.entries, known, pool)
    of_files = _KnobReading(knobs, top, owners, known, refusal, comparison.supersedes).run()
    differences = (*of_pool.differences, *comparison.found, *comparison.missing(top))
    return KnobEntries(
        {**of_files.entries, **of_pool.entries},
        (*of_pool.problems, *of_files.problems, *differences),
        (*of_pool.ignored, *of_files.ignored),
        (*of_pool.unset, *of_files.unset),
        of_pool.of_pool,
        differences,
    )


@attrs.define(eq=False)
class _KnobReading:
    """Reads the definitions of the files, or of the pool's configuration.

    ``superseded``: True for a definition of a key that has no effect, because another one has.
    """

    knobs: Knobs
    top: MapNode
    owners: KnobOwners
    known: KnownSettings
    refusal: str
    superseded: Callable[[str, str, Definition], bool] = lambda *_: False
    of_pool: bool = False
    entries: dict[str, MapEntry] = attrs.field(factory=dict, init=False)
    problems: list[Problem] = attrs.field(factory=list, init=False)
    unset: list[Problem] = attrs.field(factory=list, init=False)
    differences: list[Problem] = attrs.field(factory=list, init=False)

    def run(self) -> KnobEntries:
        knobs, owners = self.knobs, self.owners
        if not self.of_pool:
            knobs.predefine(self.known.defaults())
        core_knobs = frozenset((*TIME_KNOBS.values(), *INTERVAL_KNOBS, MATCH_EXPRESSIONS))
        owned = {key.lower(): key for key, owner in owners.keys.items() if owner != CORE or key in core_knobs}
        of_patterns = {key.lower(): key for key in self.top.entries if owners.of_pattern(key)}
        only_of_pool: dict[str, MapEntry] = {}
        rest = []
        for name in knobs.names():
            plain = name.removeprefix(SUBSYSTEM)
            definition = knobs.definitions(name)[-1]
            key = owned.get(plain, "")
            if owners.of_pattern(plain):
                key = of_patterns.get(plain, definition.name[-len(plain) :])
            if key:
                self._owned(name, key, definition)
            elif self.of_pool and owners.of_pool_pattern(plain):
                only_of_pool[plain.upper()] = _entry(plain.upper(), definition)
            else:
                rest.append(name)
        listing = self.entries.get(MATCH_EXPRESSIONS)
        if listing is not None and isinstance(listing.value, ScalarNode) and not is_unset(listing.value):
            listed = listed_macros(knobs, listing.value)
            self.entries[MATCH_EXPRESSIONS] = attrs.evolve(listing, value=listed.node)
            self.problems += listed.problems
            rest = [name for name in rest if name not in listed.names]
        unused = unused_knobs(knobs, rest, owned, self.known, self.refusal)
        return KnobEntries(
            self.entries,
            (*self.problems, *unused.problems),
            unused.others,
            tuple(self.unset),
            only_of_pool,
            tuple(self.differences),
        )

    def _owned(self, name: str, key: str, definition: Definition) -> None:
        """Read the value of a name that a plugin or the core owns by a key."""
        knobs, plain = self.knobs, name.removeprefix(SUBSYSTEM)
        if self.superseded(name, key, definition):
            return
        self.problems += _overridden(knobs, name)
        if name == plain and SUBSYSTEM + name in knobs.names():
            message = f"{definition.name} has no effect: {SUBSYSTEM}{name} takes precedence"
            self.problems.append(
                definition.file.problem(Severity.WARNING, definition.at, message, "remove one of the two")
            )
            return
        value = knobs.expand(name)
        if isinstance(value, Problem):
            self.problems.append(value)
            self.entries[key] = MapEntry(definition.at, BadNode(key, definition.file, definition.at))
        else:
            self.entries[key] = MapEntry(definition.at, ScalarNode(key, value.at, value, Style.KNOB))
        if is_unset(self.entries[key].value):
            self.unset += _unset(definition, plain, self.known)
        elif key in self.top.entries:
            if self.of_pool:
                self.differences += _replaced(key, definition, self.top)
            else:
                self.problems += _set_twice(key, definition, self.top)


@attrs.define(eq=False)
class _PoolComparison:
    """Compares the HTCondor-style files of a bundle with the pool's own configuration, which takes precedence.

    ``entries`` are the values of the pool's configuration by key.
    """

    knobs: Knobs
    entries: Mapping[str, MapEntry]
    known: KnownSettings
    pool: Knobs
    found: list[Problem] = attrs.field(factory=list, init=False)
    _dumps: dict[SourceText, bool] = attrs.field(factory=dict, init=False)
    _dumped: set[str] = attrs.field(factory=set, init=False)

    def supersedes(self, name: str, key: str, definition: Definition) -> bool:
        """True if a definition has no effect: the pool has a value, or the file was printed from its configuration before."""
        file = definition.file
        dumped = self._dumps.setdefault(file, is_dump(file))
        if dumped:
            self._dumped.add(key)
        if not dumped and key not in self.entries:
            return False
        if SUBSYSTEM + name in self.knobs.names():
            return True
        value = self.knobs.expand(name)
        text = definition.value.text if isinstance(value, Problem) else value.text
        if key in self.entries:
            node = self.entries[key].value
            if not isinstance(node, ScalarNode) or is_same_value(node.value.text, text):
                return True
            message = f"{definition.name} is {_shown(text)} here, and {_shown(node.value.text)} in {_POOL}"
            message = f"{message} ({node.value.source}), which takes precedence"
        else:
            plain = name.removeprefix(SUBSYSTEM)
            setting, default = self.known.find(plain), self.pool.predefined(plain)
            if not text or isinstance(value, Problem) or (setting is not None and is_default(setting, text)):
                return True
            if default is not None and (value.replaced or is_same_value(text, default)):
                return True  # the default of the host where it was printed
            message = (
                f"{definition.name} is {_shown(text)} here, and not set in {_POOL}, which takes precedence"
            )
        hint = "print the file again (condor_config_val -dump), or remove it" if dumped else "remove it here"
        self.found.append(file.problem(Severity.WARNING, definition.at, message, hint))
        return True

    def missing(self, top: MapNode) -> Iterator[Problem]:
        """Yield a warning for each setting of the pool that a file which was printed from its configuration lacks."""
        dumps = [file.name for file, dumped in self._dumps.items() if dumped]
        for key, entry in self.entries.items() if dumps else ():
            if key in self._dumped or key in top.entries or is_unset(entry.value):
                continue
            definition = self.pool.definitions(key.lower())[-1]
            message = f"{key} is {_shown(definition.value.text)} in {_POOL}, and not set in {dumps[0]}"
            yield definition.file.problem(Severity.WARNING, definition.at, message, f"print {dumps[0]} again")


def _entry(key: str, definition: Definition) -> MapEntry:
    return MapEntry(definition.at, ScalarNode(key, definition.value.at, definition.value, Style.KNOB))


def _shown(text: str) -> str:
    return " ".join(text.split())[:100] or "empty"


def _replaced(key: str, definition: Definition, top: MapNode) -> Iterator[Problem]:
    """Yield a warning for a setting of the pool's configuration that ``pool.yaml`` replaces by another value."""
    entry = top.entries[key]
    here = entry.value.value.text if isinstance(entry.value, ScalarNode) else ""
    if here and is_same_value(here, definition.value.text):
        return
    place = definition.file.place(definition.at)
    message = f"{key} is {_shown(here) if here else 'another value'} here, and {_shown(definition.value.text)} in {_POOL}"
    hint = "remove it here, and condor_config and condor_reconfig decide"
    message = f"{message} ({place}), which has no effect"
    yield top.file.problem(Severity.WARNING, entry.at, message, hint)


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
