"""Read the files of a bundle, load its plugins, build and check their settings, and collect all problems."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from negotiator.bundle.archive import digest_of, with_plugins
from negotiator.bundle.condor_macros import Knobs
from negotiator.bundle.constraints import bind_constraint
from negotiator.bundle.folder import (
    MAIN,
    QUEUES,
    FileOfBundle,
    FolderContents,
    PluginsFolder,
    no_files,
    unread,
)
from negotiator.bundle.knob_entries import knob_entries
from negotiator.bundle.match_expressions import read_match_expressions
from negotiator.bundle.model import (
    AccountingSettings,
    AuditSettings,
    Bundle,
    MatchMode,
    OverrunSettings,
    PlacementSettings,
)
from negotiator.bundle.object_builder import INVALID, ObjectBuilder, PathRule
from negotiator.bundle.order_knobs import unused_order_settings
from negotiator.bundle.ordering import read_ordering
from negotiator.bundle.plugin_failures import failure_problems
from negotiator.bundle.pool_configuration import POOL_FILE, AskPool, definitions, restored, stored
from negotiator.bundle.queues import has_queues, is_config_map, queues_of, read_queues, resource_expressions
from negotiator.bundle.read_before_match import read_of_jobs
from negotiator.bundle.recording import audit_problems
from negotiator.bundle.sections import (
    FileOwners,
    SectionLayout,
    lay_out,
    queue_problems,
    settings_of,
    unknown_keys,
)
from negotiator.bundle.site_commands import KillSettings, NotifySettings, SiteCommands
from negotiator.bundle.sources import choose_source, pool_settings, read_source
from negotiator.bundle.text import BadNode, MapEntry, MapNode, SourceText, decoded
from negotiator.bundle.time_limits import read_cycle_intervals, read_time_limits
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.hooks import specs
from negotiator.hooks.declarations import Section
from negotiator.hooks.guard import Tracer
from negotiator.hooks.loading import PluginSettings, load_plugins
from negotiator.hooks.manager import Attributed, HookManager
from negotiator.hooks.overruns import OverrunAction, Reuse
from negotiator.hooks.pool_source import PoolSetting, PoolSource
from negotiator.queues import QueueTree
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable

if TYPE_CHECKING:
    from negotiator.bundle.condor_reader import ConfigurationReader


@attrs.define(eq=False)
class BundleLoader:
    """One attempt to load a folder: ``run`` returns the bundle, ``all_problems`` what is wrong with it."""

    folder: Path
    contents: FolderContents
    problems: list[Problem]
    overrides: Mapping[str, MapEntry] = attrs.field(factory=dict)  # these replace keys of pool.yaml
    ask_pool: AskPool = AskPool.NO
    files: dict[str, SourceText] = attrs.field(factory=dict)
    hooks: HookManager | None = None
    file_owners: FileOwners = attrs.field(factory=FileOwners)
    ignored: tuple[Problem, ...] = ()
    unset: tuple[Problem, ...] = ()
    differences: tuple[Problem, ...] = ()
    entries: Mapping[str, MapEntry] = attrs.field(factory=dict)  # the values of the bundle, by key
    manifests: dict[str, SourceText] = attrs.field(factory=dict)  # of ConfigMaps with queues, by name

    def run(
        self,
        extra_folders: Sequence[Path],
        disable: Sequence[str],
        *,
        entry_points: bool,
        tracer: Tracer | None,
        extra_plugins: Mapping[str, object],
    ) -> Bundle | None:
        """Return the bundle, None if a section of the core or of a plugin is invalid."""
        top, knobs = self._read()
        if top is None:
            return None
        top.entries.update(self.overrides)
        audit = self._core(top, "audit", AuditSettings, FileOfBundle(self.folder, self.contents.names))
        self.problems += audit_problems(audit or AuditSettings())
        placement = self._core(top, "placement", PlacementSettings, FileOfBundle(self.folder, ()))
        accounting = self._core(top, "accounting", AccountingSettings, FileOfBundle(self.folder, ()))
        kill = self._core(top, "kill", KillSettings, FileOfBundle(self.folder, ()))
        notify = self._core(top, "notify", NotifySettings, FileOfBundle(self.folder, ()))
        plugins = self._core(top, "plugins", PluginSettings, PluginsFolder(self.folder))
        which = self._disabled(top) if plugins is None else plugins
        if which is None:
            return None
        which = attrs.evolve(
            which,
            folders=(*which.folders, *extra_folders),
            disable=(*which.disable, *disable),
        )
        hooks, refused = load_plugins(which, entry_points=entry_points, tracer=tracer, extra=extra_plugins)
        self.problems += (_placed(problem, top) for problem in refused)
        self.problems += hooks.hooks_not_called()
        if plugins is not None:
            self.hooks = hooks
        layout = lay_out(hooks)
        self.problems += layout.problems
        refusal = _first_error((*refused, *layout.problems))
        self.file_owners = layout.file_owners
        self.problems += self.file_owners.conflicts({*self.contents.settings, *self.contents.others})
        self.manifests = dict(self._manifests())
        if not (self.contents.settings or self.manifests or self._is_owned()):
            self._refuse_folder()
            return None
        chosen, wrong_sources = choose_source(top, hooks)
        self.problems += wrong_sources
        pool = self._pool_configuration(chosen, hooks, layout)
        if plugins is not None:  # otherwise an unknown key may belong to a plugin that was not loaded
            self.problems += unknown_keys(top, layout.owners, layout.known, refusal)
        settings = self._settings(top, knobs, pool, layout, refusal)
        unset = {attributed.plugin for attributed in layout.sections} - settings.keys()
        wrong = layout.refused | unset
        bundle = self._assemble(
            hooks, settings, wrong, audit or AuditSettings(), placement or PlacementSettings(), which
        )
        if not any(each.severity is Severity.ERROR for each in self.problems):
            self.problems += queue_problems(layout.sections, settings, bundle.partition, hooks)
        mode = self._core(top, "match", MatchMode, no_files, MatchMode.ONE)
        overruns = self._overruns(top, no_files)
        reuse = self._core(top, "reuse", Reuse, no_files) if "reuse" in top.entries else None
        ordering, problems = read_ordering(top, hooks, settings, bundle.partition)
        unused = unused_order_settings(ordering, self.entries, layout.owners, layout.known)
        limits, wrong_limits = read_time_limits(self.entries)
        intervals, wrong_intervals = read_cycle_intervals(self.entries)
        match_expressions, wrong_expressions = read_match_expressions(self.entries)
        source, wrong_source = read_source(chosen, bundle, settings, wrong)
        self.problems += (*problems, *unused, *wrong_limits, *wrong_intervals, *wrong_source)
        self.problems += wrong_expressions
        if accounting is None or audit is None or placement is None or plugins is None or unset:
            return None
        if kill is None or notify is None or mode is None or limits is None or intervals is None:
            return None
        if overruns is None:
            return None
        commands = SiteCommands(kill, notify)
        return attrs.evolve(
            bundle,
            accounting=accounting,
            ordering=ordering,
            source=source,
            match=mode,
            overruns=overruns,
            reuse=reuse,
            time_limits=limits,
            cycle_intervals=intervals,
            match_expressions=match_expressions,
            site_commands=commands,
            sections=tuple(layout.sections),
            differences=tuple(map(self._quoted, self.differences)),
        )

    def all_problems(self) -> tuple[Problem, ...]:
        """Return all problems, each once, in the order of files and lines, each with its line."""
        others = self.contents.others.keys() - self.manifests.keys()
        unowned = (name for name in others if not self.file_owners.owner(name))
        changes = () if self.hooks is None else self.hooks.process_changes()
        return in_order(map(self._quoted, (*self.problems, *changes, *filter(None, map(unread, unowned)))))

    def _read(self) -> tuple[MapNode | None, Knobs]:
        """Return the tree of ``pool.yaml``, None if it can't be read to its end, and the knobs of all other files."""
        top: MapNode | None = MapNode("", SourceText(MAIN, ""), 0)
        reader: ConfigurationReader | None = None
        for name, content in self.contents.settings.items():
            if name == POOL_FILE:
                continue
            file, broken = decoded(name, content)
            self.files[name] = file
            problems: tuple[Problem, ...] = (broken,) if broken else ()
            if name == QUEUES:
                pass  # read later: plugins bring the types of placement rules
            elif name == MAIN:
                top, problems = (None, problems) if broken else read_yaml(file)
            elif not broken:
                reader = reader or self._configuration_reader()
                reader.read(file)
            self.problems += problems
        if MAIN not in self.contents.settings and self.contents.settings:
            top = MapNode("", next(iter(self.files.values()), SourceText(MAIN, "")), 0)
        if any(problem.source.file == MAIN for problem in self.contents.problems):
            top = None
        return top, reader.knobs if reader else Knobs()

    def _configuration_reader(self) -> ConfigurationReader:
        from negotiator.bundle.condor_reader import ConfigurationReader  # noqa: PLC0415 - a start takes longer; few bundles need it

        return ConfigurationReader(self._included, problems=self.problems)

    def _included(self, name: str) -> SourceText | None:
        """Return a file that an HTCondor-style file includes; None if the bundle has no such text."""
        if name not in self.contents.files:
            return None
        if name not in self.files:
            file, broken = decoded(name, self.contents.files[name])
            self.problems += (broken,) if broken else ()
            self.files[name] = file
        return self.files[name]

    def _pool_configuration(
        self, chosen: Attributed[PoolSource] | None, hooks: HookManager, layout: SectionLayout
    ) -> Knobs | None:
        """Return the pool's own configuration, as it is now or as it was stored with the bundle; None without one.

        The settings that have a reader are stored with the bundle.
        """
        found: Sequence[PoolSetting] | None = None
        if self.ask_pool is not AskPool.NO:
            checks = self.ask_pool is AskPool.CHECK
            found, problems = pool_settings(chosen, hooks, self.folder, checks=checks)
            self.problems += problems
        if found is None:
            if POOL_FILE not in self.contents.files:
                return None
            file, broken = decoded(POOL_FILE, self.contents.files[POOL_FILE])
            self.problems += (broken,) if broken else ()
            return Knobs(definitions(restored(file)), literal=True)
        owners = layout.owners
        own = [each for each in found if not each.is_default or owners.of_pool_pattern(each.name)]
        self.contents.files[POOL_FILE] = stored(
            each
            for each in own
            if owners.named(each.name) or owners.of_pattern(each.name) or owners.of_pool_pattern(each.name)
        )
        knobs = Knobs(definitions(own), literal=True)
        knobs.predefine({each.name: each.value for each in found if each.is_default})
        return knobs

    def _is_owned(self) -> bool:
        """True if a plugin reads one of the files."""
        return any(map(self.file_owners.owner, self.contents.others))

    def _refuse_folder(self) -> None:
        if not self.contents.problems:
            files = ", ".join((MAIN, QUEUES, "*.conf", *sorted(self.file_owners.owners)))
            message = f"not a policy bundle: none of {files} in this folder"
            self.problems.append(Problem(Severity.ERROR, Source(MAIN), message, "is it the right folder?"))

    def _manifests(self) -> Iterator[tuple[str, SourceText]]:
        """Yield the ConfigMaps with a queue configuration that are neither ``queues.yaml`` nor read by a plugin."""
        for name, content in sorted(self.contents.others.items()):
            if name.endswith((".yaml", ".yml")) and not self.file_owners.owner(name):
                file, broken = decoded(name, content)
                if broken is None and has_queues(file):
                    yield name, file

    def _queues(self) -> SourceText | None:
        """Return the queue configuration: ``queues.yaml``, or that of a ConfigMap."""
        file = self.files.get(QUEUES)
        for name, manifest in self.manifests.items():
            if file is None:
                file = self.files[name] = manifest
            else:
                message = f"this ConfigMap is not read: the queues are those of {file.name}"
                self.problems.append(manifest.problem(Severity.WARNING, 0, message, "delete one of the two"))
        if file is None or not is_config_map(file):
            return file
        found = queues_of(file)
        self.problems += found.problems
        return found.text

    def _core(self, top: MapNode, key: str, schema: type, paths: PathRule, default: Any = None) -> Any:
        """Return the value of a key of the core; None if it is invalid.

        If the bundle does not have the key, return ``default``, or an object with the defaults of its class.
        """
        if key not in top.entries:
            return schema() if default is None else default
        builder = ObjectBuilder(paths)
        built = builder.value(top.entries[key].value, schema)
        self.problems += builder.problems
        return None if built is INVALID else built

    def _overruns(self, top: MapNode, no_files: PathRule) -> OverrunSettings | None:
        """Return what becomes of running jobs that a policy would deny; None if that is invalid."""
        action = self._core(top, "overruns", OverrunAction, no_files, OverrunAction.REPORT)
        grace = self._core(top, "overrun_grace", float, no_files, OverrunSettings().grace)
        if action is None or grace is None:
            return None
        if not 0 <= grace < math.inf:
            node = top.entries["overrun_grace"].value
            text = "overrun_grace must be a number of seconds, 0 or more"
            self.problems.append(node.file.error(node.at, text, f"the default is {OverrunSettings().grace}"))
            return None
        return OverrunSettings(action, grace)

    def _disabled(self, top: MapNode) -> PluginSettings | None:
        """Return plugin settings for checking the rest of a bundle whose ``plugins:`` section is invalid.

        None if ``disable:`` or ``only:`` itself is invalid: a plugin that is kept out must not be imported.
        """
        part = top.entries["plugins"].value
        if not isinstance(part, MapNode):
            return None
        builder = ObjectBuilder(PluginsFolder(self.folder))
        names = {
            key: builder.value(part.entries[key].value, tuple[str, ...])
            for key in ("disable", "only")
            if key in part.entries
        }
        return None if INVALID in names.values() else PluginSettings(**names)

    def _settings(
        self, top: MapNode, knobs: Knobs, pool: Knobs | None, layout: SectionLayout, refusal: str
    ) -> dict[str, Any]:
        from_knobs = knob_entries(knobs, top, layout.owners, layout.known, refusal, pool)
        self.problems += from_knobs.problems
        self.ignored, self.unset = from_knobs.ignored, from_knobs.unset
        self.differences = from_knobs.differences
        entries = self.entries = {**from_knobs.entries, **top.entries}
        settings = {}
        for attributed in layout.sections:
            builder = ObjectBuilder(FileOfBundle(self.folder, self.contents.names))
            files = self._files_of(attributed)
            own = {**entries, **dict(self._apart(attributed, entries))}
            built = settings_of(attributed, own, layout.owners, builder, top.file, files, from_knobs.of_pool)
            self.problems += builder.problems
            if built is not INVALID:
                settings[attributed.plugin] = built
        return settings

    def _apart(
        self, attributed: Attributed[Section], entries: Mapping[str, MapEntry]
    ) -> Iterator[tuple[str, MapEntry]]:
        """Yield the keys of a plugin that are files of their own."""
        for key in attributed.record.apart:
            name = Section.file_of(key)
            if name not in self.file_owners.of(attributed.plugin, self.contents.others):
                continue
            file, broken = decoded(name, self.contents.others[name])
            self.files[name] = file
            node, problems = (None, (broken,)) if broken else read_yaml(file)
            if key in entries:
                message = f"the key {key} is also in {entries[key].value.file.name}"
                problems = (*problems, file.error(0, message, "remove one of the two"))
            self.problems += problems
            yield key, MapEntry(0, BadNode(key, file, 0) if node is None else node)

    def _files_of(self, attributed: Attributed[Section]) -> Mapping[str, str] | None:
        """Return the texts of the files that belong to a plugin, by name; None if one of them is not a text."""
        plugin, apart = attributed.plugin, set(map(Section.file_of, attributed.record.apart))
        for name in self.file_owners.of(plugin, self.contents.irregular):
            self.problems.append(Problem(Severity.ERROR, Source(printable(name)), "this is not a file"))
        texts: dict[str, str] = {}
        broken = []
        for name in self.file_owners.of(plugin, self.contents.others.keys() - apart):
            self.files[name], wrong = decoded(name, self.contents.others[name])
            texts[name] = self.files[name].text
            broken += [wrong] if wrong else []
        self.problems += broken
        return None if broken else MappingProxyType(texts)

    def _assemble(
        self,
        hooks: HookManager,
        settings: dict[str, Any],
        wrong: Collection[str],
        audit: AuditSettings,
        placement: PlacementSettings,
        plugins: PluginSettings,
    ) -> Bundle:
        """Ask plugins for constraints and attributes; failures of plugins whose settings are invalid are ignored."""
        constraints = hooks.ask(specs.negotiator_constraints, settings=settings)
        attributes, failures = hooks.job_attributes(settings)
        placement = placement.bound()
        queues = read_queues(self._queues(), placement, hooks)
        tree = QueueTree.of(queues.partition.root, 0.0)
        failures += (*constraints.failures, *hooks.leave_out_unused(tree, settings))
        failures += hooks.make_policies(tree, settings)
        failed = (each for each in failures if each.plugin not in wrong)
        self.problems += (*failure_problems(hooks, failed), *queues.problems)
        resources, required = resource_expressions(placement, queues.partition)
        files = with_plugins(self.contents.files, hooks.plugin_set)
        return Bundle(
            folder=self.folder,
            digest=digest_of(files),
            files=MappingProxyType(files),
            hooks=hooks,
            settings=MappingProxyType(settings),
            constraints=tuple(map(bind_constraint, constraints.records)),
            job_attributes=None
            if attributes is None
            else attributes | read_of_jobs((*resources.values(), placement.groups.tree)),
            audit=audit,
            plugins=plugins,
            partition=queues.partition,
            chain=queues.chain,
            placement=placement,
            resources=resources,
            required_resources=required,
        )

    def _quoted(self, problem: Problem) -> Problem:
        """Return a problem with its line, if it has only its place."""
        file = self.files.get(problem.source.file)
        if file is None or problem.excerpt:
            return problem
        return attrs.evolve(problem, excerpt=file.excerpt(problem.source.line))


def _first_error(problems: Iterable[Problem]) -> str:
    return next((each.message for each in problems if each.severity is Severity.ERROR), "")


def _placed(problem: Problem, top: MapNode) -> Problem:
    """Return a problem of a name under ``plugins:`` at the place of the name."""
    core, _, key = problem.source.file.partition(": ")
    if core != "plugins" or core not in top.entries:
        return problem
    entry = top.entries[core]
    if isinstance(entry.value, MapNode):
        entry = entry.value.entries.get(key, entry)
    return top.file.problem(problem.severity, entry.at, problem.message, problem.hint)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return each problem once, in the order of files and lines; ``pool.yaml`` comes first."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda each: (each.source.file != MAIN, each.source)))
