"""Loads a bundle: everything in it is checked, every problem is told at once, and there is no half of one."""

from __future__ import annotations

import importlib.resources
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs

from negotiator.bundle.condor_lines import Definition, read_definitions
from negotiator.bundle.condor_macros import Knobs
from negotiator.bundle.constraints import bind_constraint
from negotiator.bundle.file_owners import FileOwners
from negotiator.bundle.folder import MAIN, QUEUES, Contents, is_settings_file, read_folder, unread
from negotiator.bundle.model import AuditSettings, Bundle, PlacementSettings
from negotiator.bundle.nodes import BadNode, MapEntry, MapNode
from negotiator.bundle.paths import FileOfBundle, PluginsFolder
from negotiator.bundle.queues import read_queues, resource_expressions
from negotiator.bundle.recording import audit_problems
from negotiator.bundle.sections import SectionLayout, knob_entries, lay_out, settings_of, unknown_keys
from negotiator.bundle.structure import INVALID, PathRule, Structurer
from negotiator.bundle.text import SourceText
from negotiator.bundle.yaml_reader import read_yaml
from negotiator.classad import Expr, references
from negotiator.errors import BundleError
from negotiator.hooks.guard import Tracer
from negotiator.hooks.loading import PluginSettings, load_plugins
from negotiator.hooks.manager import Attributed, HookManager
from negotiator.hooks.records import Section
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import printable


@attrs.frozen
class BundleCheck:
    """What was found in a folder: all problems, and the bundle where none of them is an error.

    ``hooks`` has the plugins that were loaded, also where others were refused; None where the bundle does not say
    which are wanted. ``files`` are the texts that were read, by their names; ``claims`` says which files plugins read.
    """

    bundle: Bundle | None
    digest: str
    problems: tuple[Problem, ...]
    hooks: HookManager | None = None
    files: Mapping[str, SourceText] = attrs.field(factory=dict)
    claims: FileOwners = attrs.field(factory=FileOwners)

    def reads(self, name: str) -> bool:
        """Whether a file of this name, relative to the folder, is read as settings: by the core, or by a plugin."""
        return is_settings_file(name) or bool(self.claims.owner(name))


def default_bundle() -> Path:
    """The folder of the bundle that comes with the program."""
    return Path(str(importlib.resources.files("negotiator.bundle"))) / "default"


def load_bundle(
    folder: Path,
    *,
    extra_folders: Sequence[Path] = (),
    disable: Sequence[str] = (),
    entry_points: bool = True,
    tracer: Tracer | None = None,
) -> Bundle:
    """The bundle in a folder. BundleError with every problem of it, where one is an error.

    ``extra_folders`` are folders of plugins beside those that the bundle names, ``disable`` names plugins that are not
    loaded, ``entry_points=False`` leaves out the installed ones, and ``tracer`` is told of every call of a hook.
    """
    examination = examine_bundle(
        folder, extra_folders=extra_folders, disable=disable, entry_points=entry_points, tracer=tracer
    )
    if examination.bundle is None:
        raise BundleError(examination.problems, folder)
    return examination.bundle


def check_bundle(
    folder: Path,
    *,
    extra_folders: Sequence[Path] = (),
    disable: Sequence[str] = (),
    entry_points: bool = True,
) -> tuple[Problem, ...]:
    """All problems of the bundle in a folder: errors, warnings and notices, in the order of its files and lines."""
    return examine_bundle(
        folder, extra_folders=extra_folders, disable=disable, entry_points=entry_points
    ).problems


def examine_bundle(
    folder: Path,
    *,
    extra_folders: Sequence[Path] = (),
    disable: Sequence[str] = (),
    entry_points: bool = True,
    tracer: Tracer | None = None,
    replaced: Mapping[str, bytes | None] | None = None,
) -> BundleCheck:
    """Look at all of a folder. What raises is a bug, or a folder that does not exist.

    ``replaced`` has contents of files, by name, to look at in place of those that are there; None where a file is to
    be looked at as gone.
    """
    contents = read_folder(folder, replaced)
    loading = _Loading(folder, contents, list(contents.problems))
    bundle = loading.run(extra_folders, disable, entry_points=entry_points, tracer=tracer)
    problems = loading.told()
    if bundle is None or any(problem.severity is Severity.ERROR for problem in problems):
        bundle = None
    else:
        bundle = attrs.evolve(bundle, problems=problems)
    return BundleCheck(bundle, contents.digest, problems, loading.hooks, loading.files, loading.claims)


@attrs.define(eq=False)
class _Loading:
    folder: Path
    contents: Contents
    problems: list[Problem]
    files: dict[str, SourceText] = attrs.field(factory=dict)
    hooks: HookManager | None = None
    claims: FileOwners = attrs.field(factory=FileOwners)

    def run(
        self,
        extra_folders: Sequence[Path],
        disable: Sequence[str],
        *,
        entry_points: bool,
        tracer: Tracer | None,
    ) -> Bundle | None:
        top, knobs = self._read()
        if top is None:
            return None
        audit = self._core(top, "audit", AuditSettings, FileOfBundle(self.folder, self.contents.names))
        self.problems += audit_problems(audit or AuditSettings())
        placement = self._core(top, "placement", PlacementSettings, FileOfBundle(self.folder, ()))
        plugins = self._core(top, "plugins", PluginSettings, PluginsFolder(self.folder))
        which = self._disabled(top) if plugins is None else plugins
        if which is None:
            return None
        which = attrs.evolve(
            which,
            folders=(*which.folders, *extra_folders),
            disable=(*which.disable, *disable),
        )
        hooks, refused = load_plugins(which, entry_points=entry_points, tracer=tracer)
        self.problems += (_placed(problem, top) for problem in refused)
        if plugins is not None:
            self.hooks = hooks
        layout = lay_out(hooks)
        self.problems += layout.problems
        self.claims = layout.claims
        self.problems += self.claims.conflicts({*self.contents.settings, *self.contents.others})
        if plugins is not None:  # else a key may be that of a plugin which the bundle meant to name
            self.problems += unknown_keys(top, layout.owners)
        settings = self._settings(top, knobs, layout)
        unset = {stamped.plugin for stamped in layout.sections} - settings.keys()
        wrong = layout.refused | unset
        bundle = self._asked(
            hooks, settings, wrong, audit or AuditSettings(), placement or PlacementSettings(), which
        )
        return None if audit is None or placement is None or plugins is None or unset else bundle

    def told(self) -> tuple[Problem, ...]:
        """All problems, each once, in the order of files and lines, with the line that each stands in."""
        unclaimed = (name for name in self.contents.others if not self.claims.owner(name))
        return in_order(map(self._quoted, (*self.problems, *filter(None, map(unread, unclaimed)))))

    def _read(self) -> tuple[MapNode | None, Knobs]:
        """What the files say, and whether ``pool.yaml`` could be read to its end."""
        top: MapNode | None = MapNode("", SourceText(MAIN, ""), 0)
        definitions: list[Definition] = []
        if not self.contents.settings:
            if not self.contents.problems:
                message = (
                    "there is no pool.yaml, queues.yaml or *.conf in this folder: it is no policy bundle"
                )
                self.problems.append(
                    Problem(Severity.ERROR, Source(MAIN), message, "is it the right folder?")
                )
            return None, Knobs(())
        for name, content in self.contents.settings.items():
            file, broken = _decoded(name, content)
            self.files[name] = file
            problems: tuple[Problem, ...] = (broken,) if broken else ()
            if name == QUEUES:
                pass  # read when it is known which plugins bring rules
            elif name == MAIN:
                top, problems = (None, problems) if broken else read_yaml(file)
            elif not broken:
                found, problems = read_definitions(file)
                definitions += found
            self.problems += problems
        if MAIN not in self.contents.settings and self.contents.settings:
            top = MapNode("", next(iter(self.files.values())), 0)
        if any(problem.source.file == MAIN for problem in self.contents.problems):
            top = None
        return top, Knobs(definitions)

    def _core(self, top: MapNode, key: str, schema: type, paths: PathRule) -> Any:
        """A part of the file that belongs to the core; its defaults where there is none, None where it is wrong."""
        if key not in top.entries:
            return schema()
        structurer = Structurer(paths)
        built = structurer.structure(top.entries[key].value, schema)
        self.problems += structurer.problems
        return None if built is INVALID else built

    def _disabled(self, top: MapNode) -> PluginSettings | None:
        """Settings to look at the rest of the bundle with, where those of the plugins are wrong.

        What is disabled must not be imported, so where that is what is wrong there are none.
        """
        part = top.entries["plugins"].value
        if not isinstance(part, MapNode):
            return None
        if "disable" not in part.entries:
            return PluginSettings()
        structurer = Structurer(PluginsFolder(self.folder))
        names = structurer.structure(part.entries["disable"].value, tuple[str, ...])
        return None if names is INVALID else PluginSettings(disable=names)

    def _settings(self, top: MapNode, knobs: Knobs, layout: SectionLayout) -> dict[str, Any]:
        from_knobs, problems = knob_entries(knobs, top, layout.owners)
        self.problems += problems
        entries: Mapping[str, MapEntry] = {**from_knobs, **top.entries}
        settings = {}
        for stamped in layout.sections:
            structurer = Structurer(FileOfBundle(self.folder, self.contents.names))
            files = self._files_of(stamped)
            own = {**entries, **dict(self._apart(stamped, entries))}
            built = settings_of(stamped, own, structurer, top.file, files)
            self.problems += structurer.problems
            if built is not INVALID:
                settings[stamped.plugin] = built
        return settings

    def _apart(
        self, stamped: Attributed[Section], entries: Mapping[str, MapEntry]
    ) -> Iterator[tuple[str, MapEntry]]:
        """The keys of a plugin that stand in files of their own."""
        for key in stamped.record.apart:
            name = Section.file_of(key)
            if name not in self.claims.of(stamped.plugin, self.contents.others):
                continue
            file, broken = _decoded(name, self.contents.others[name])
            self.files[name] = file
            node, problems = (None, (broken,)) if broken else read_yaml(file)
            if key in entries:
                message = f"the key {key} stands in {entries[key].value.file.name}, too"
                problems = (*problems, file.error(0, message, "leave one of the two out"))
            self.problems += problems
            yield key, MapEntry(0, BadNode(key, file, 0) if node is None else node)

    def _files_of(self, stamped: Attributed[Section]) -> Mapping[str, str] | None:
        """The texts of the files that belong to a plugin, by name; None where one of them is no text."""
        plugin, apart = stamped.plugin, set(map(Section.file_of, stamped.record.apart))
        for name in self.claims.of(plugin, self.contents.irregular):
            self.problems.append(Problem(Severity.ERROR, Source(printable(name)), "this is not a file"))
        texts: dict[str, str] = {}
        broken = []
        for name in self.claims.of(plugin, self.contents.others.keys() - apart):
            self.files[name], wrong = _decoded(name, self.contents.others[name])
            texts[name] = self.files[name].text
            broken += [wrong] if wrong else []
        self.problems += broken
        return None if broken else MappingProxyType(texts)

    def _asked(
        self,
        hooks: HookManager,
        settings: dict[str, Any],
        wrong: Collection[str],
        audit: AuditSettings,
        placement: PlacementSettings,
        plugins: PluginSettings,
    ) -> Bundle:
        """Ask for what plugins make of their settings; those whose settings are wrong are not held to their answer."""
        constraints = hooks.constraints(settings)
        attributes, failures = hooks.job_attributes(settings)
        origins = {plugin.name: plugin.origin for plugin in hooks.plugins}
        self.problems += (
            Problem(Severity.ERROR, Source(origins.get(failure.plugin, failure.plugin)), str(failure))
            for failure in (*constraints.failures, *failures)
            if failure.plugin not in wrong
        )
        placement = placement.bound()
        queues = read_queues(self.files.get(QUEUES), placement, hooks)
        self.problems += queues.problems
        resources, told = resource_expressions(placement, queues.partition)
        return Bundle(
            folder=self.folder,
            digest=self.contents.digest,
            hooks=hooks,
            settings=MappingProxyType(settings),
            constraints=tuple(map(bind_constraint, constraints.records)),
            job_attributes=None
            if attributes is None
            else attributes | _read((*resources.values(), placement.groups.tree)),
            audit=audit,
            plugins=plugins,
            partition=queues.partition,
            chain=queues.chain,
            placement=placement,
            resources=resources,
            told=told,
        )

    def _quoted(self, problem: Problem) -> Problem:
        """With the line it stands in, where a plugin told of it and knows the place alone."""
        file = self.files.get(problem.source.file)
        if file is None or problem.excerpt:
            return problem
        return attrs.evolve(problem, excerpt=file.excerpt(problem.source.line))


def _read(trees: Iterable[Expr]) -> frozenset[str]:
    """The attributes of a job, in lower case, that tell what it asks for, and the groups of its user."""
    found = map(references, trees)
    return frozenset(name.lower() for each in found for name in (*each.my, *each.unscoped))


def _decoded(name: str, content: bytes) -> tuple[SourceText, Problem | None]:
    try:
        return SourceText(name, content.decode().removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")), None
    except UnicodeDecodeError as error:
        file = SourceText(name, content[: error.start].decode() + content[error.start :].decode("latin-1"))
        message = f"byte 0x{content[error.start]:02X} is not UTF-8"
        return file, file.error(error.start, message, "save the file as UTF-8")


def _placed(problem: Problem, top: MapNode) -> Problem:
    """What is wrong with a name under ``plugins:`` is told where it stands, not where the loader met it."""
    core, _, key = problem.source.file.partition(": ")
    if core != "plugins" or core not in top.entries:
        return problem
    entry = top.entries[core]
    if isinstance(entry.value, MapNode):
        entry = entry.value.entries.get(key, entry)
    return top.file.problem(problem.severity, entry.at, problem.message, problem.hint)


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Each problem once, in the order of files and lines; those of ``pool.yaml`` come first."""
    return tuple(sorted(dict.fromkeys(problems), key=lambda each: (each.source.file != MAIN, each.source)))
