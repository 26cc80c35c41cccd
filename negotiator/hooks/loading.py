"""Finds plugins, checks and loads them, and reports the problems of those that are refused.

Plugins come from the entry points of group ``negotiator`` of installed distributions, and from the folders and modules
that the bundle names. Each can be disabled by name; a disabled plugin is not imported. A refused plugin never prevents
the others from being loaded. A plugin is checked before any of its hooks is called.
"""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import Any

import attrs

from negotiator.hooks import dropins, isolation
from negotiator.hooks.candidates import (
    Candidate,
    PluginRefusedError,
    from_entry_points,
    from_folder,
    from_module,
    from_object,
    isolated_version,
    refusal,
)
from negotiator.hooks.failures import defined_at, plain_function
from negotiator.hooks.guard import Clock, Tracer
from negotiator.hooks.hook import Hook
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.manager import HOOKS, HookManager, LoadedPlugin
from negotiator.hooks.pluggy_adapter import Marked, Registry, import_lazy_names, marked_functions
from negotiator.hooks.plugin_output import protect_descriptor, running_plugin
from negotiator.hooks.process_state import changed_process, unchanged_process
from negotiator.hooks.settings import PluginSettings as PluginSettings
from negotiator.records import CORE, Problem, Severity, Source
from negotiator.records.text import suggest

PREFIX = "negotiator_"

_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
_NONE: Mapping[str, object] = MappingProxyType({})


def vet(plugin: object, name: str, origin: str, hooks: Mapping[str, Hook[..., Any]]) -> Iterator[Problem]:
    """Yield the problems of a plugin's marked functions, and its functions named like hooks that are not marked."""
    marked = marked_functions(plugin)
    for each in marked:
        yield from _vet_marked(each, name, origin, hooks)
    functions = {id(plain_function(each.function)) for each in marked}
    yield from _unmarked(plugin, name, origin, functions)
    if not marked:
        hint = "mark its functions with negotiator.plugin.hookimpl"
        yield Problem(Severity.WARNING, Source(origin), f"plugin {name} implements no hook", hint)


def _vet_marked(
    marked: Marked, name: str, origin: str, hooks: Mapping[str, Hook[..., Any]]
) -> Iterator[Problem]:
    where, subject = defined_at(marked.function) or Source(origin), f"plugin {name}, hook {marked.hook}"
    hook = hooks.get(marked.hook)
    if hook is None:
        # A plugin that marks a hook as optional supports versions of the program without it.
        severity = Severity.WARNING if marked.options.get("optionalhook") else Severity.ERROR
        hint = suggest(marked.hook, hooks)
        yield Problem(severity, where, f"{subject}: unknown hook", hint)
        return
    if marked.options.get("wrapper") or marked.options.get("hookwrapper"):
        hint = "a wrapper could hide the answer of another plugin; implement the hook itself"
        yield Problem(Severity.ERROR, where, f"{subject}: wrappers are refused", hint)
    if marked.options.get("tryfirst") or marked.options.get("trylast"):
        hint = "the bundle decides: plugins: order:"
        yield Problem(Severity.NOTICE, where, f"{subject}: tryfirst and trylast have no effect", hint)
    if inspect.iscoroutinefunction(marked.function) or inspect.isasyncgenfunction(marked.function):
        yield Problem(
            Severity.ERROR, where, f"{subject}: is async", "hooks are plain functions or generators"
        )
    yield from _vet_arguments(marked, hook, subject, where)


def _vet_arguments(marked: Marked, hook: Hook[..., Any], subject: str, where: Source) -> Iterator[Problem]:
    expected = f"its arguments are: {', '.join(hook.arguments)}" if hook.arguments else "it has no arguments"
    for parameter in inspect.signature(marked.function).parameters.values():
        if parameter.kind not in _NAMED:
            message = f"{subject}: the argument {parameter} can't be passed by name"
            yield Problem(Severity.ERROR, where, message, expected)
        elif parameter.name not in hook.arguments:
            message = f"{subject}: unknown argument {parameter.name}"
            yield Problem(Severity.ERROR, where, message, expected)


def _unmarked(plugin: object, name: str, origin: str, marked: set[int]) -> Iterator[Problem]:
    for attribute in dir(plugin):
        if not attribute.startswith(PREFIX):
            continue
        value = getattr(plugin, attribute, None)
        if inspect.isroutine(value) and id(plain_function(value)) not in marked:
            message = f"plugin {name}: {attribute} is not marked, so it is never called"
            yield Problem(
                Severity.WARNING, defined_at(value) or Source(origin), message, "put @hookimpl before it"
            )


#: What the import of each plugin that is executed once changed of the process, by origin.
_changed_at_import: dict[str, list[str]] = {}


def load_plugins(
    settings: PluginSettings,
    *,
    entry_points: bool = True,
    extra: Mapping[str, object] = _NONE,
    tracer: Tracer | None = None,
    clock: Clock = perf_counter,
) -> tuple[HookManager, tuple[Problem, ...]]:
    """Load all plugins of the settings; the manager has those that were accepted.

    A problem of severity error means that a plugin was refused: the bundle must not be used.
    ``entry_points=False`` leaves out installed plugins. ``extra`` are further plugins by name: modules or objects.
    """
    loader = _PluginLoader(settings)
    for candidate in loader.chosen(entry_points=entry_points, extra=extra):
        loader.load(candidate)
    manager = HookManager(loader.registry, loader.loaded, settings, tracer, clock)
    forget_modules_with(manager, loader.plugins)
    for worker in loader.workers:
        weakref.finalize(manager, worker.stop)
    return manager, tuple(loader.problems)


def forget_modules_with(manager: HookManager, plugins: Iterable[object]) -> None:
    """Remove the modules of dropped-in plugins from ``sys.modules`` once their manager is gone."""
    weakref.finalize(manager, dropins.unload, dropins.module_names(plugins)).atexit = False


@attrs.define
class _PluginLoader:
    settings: PluginSettings
    registry: Registry = attrs.field(factory=lambda: Registry(HOOKS))
    loaded: list[LoadedPlugin] = attrs.field(factory=list)
    problems: list[Problem] = attrs.field(factory=list)
    plugins: list[object] = attrs.field(factory=list)
    workers: list[isolation.WorkerProcess] = attrs.field(factory=list)
    objects: dict[int, str] = attrs.field(factory=dict)  # the plugin's name, by id of the registered object

    def chosen(self, *, entry_points: bool, extra: Mapping[str, object]) -> list[Candidate]:
        """Return the plugins to load: each name once, without those that are disabled."""
        found: dict[str, Candidate] = {}
        left_out: set[str] = set()
        for candidate in self._found(entry_points=entry_points, extra=extra):
            only = self.settings.only
            if candidate.installed and only is not None and candidate.name not in only:
                left_out.add(candidate.name)
                continue
            first = found.setdefault(candidate.name, candidate)
            if first is not candidate and candidate.name not in self.settings.disable:
                message = f"two plugins are called {candidate.name}: {first.origin} and {candidate.origin}"
                self._refuse(
                    Source(candidate.origin), message, "disable both (plugins: disable:), or rename one"
                )
        self.problems += _unknown("only", self.settings.only or (), {*found, *left_out})
        self.problems += _unknown("disable", self.settings.disable, {*found, *left_out})
        self.problems += _unknown("order", self.settings.order, found)
        self.problems += _unknown("isolate", self.settings.isolate, found)
        return [candidate for name, candidate in found.items() if name not in self.settings.disable]

    def load(self, candidate: Candidate) -> None:
        """Load, check and register one plugin; any exception is a problem."""
        try:
            protect_descriptor()
            with self._guarded_import(candidate):
                with running_plugin(f"the import of plugin {candidate.name}"):
                    plugin, version = self._plugin(candidate)
                    import_lazy_names(plugin)
                problems = [
                    *self._unfit(plugin, candidate),
                    *vet(plugin, candidate.name, candidate.origin, HOOKS),
                ]
                self.problems += problems
                if any(problem.severity is Severity.ERROR for problem in problems):
                    dropins.unload(dropins.module_names([plugin]))
                    return
                self.registry.register(plugin, candidate.name)
        except BaseException as error:  # noqa: BLE001 - importing a plugin runs its code, which may raise anything
            raise_if_interrupted(error)
            self.problems.append(refusal(candidate, error))
            return
        self.objects[id(plugin)] = candidate.name
        self.plugins.append(plugin)
        self.loaded.append(
            LoadedPlugin(
                candidate.name,
                version,
                candidate.origin,
                installed=candidate.installed,
                is_bundled=candidate.is_bundled,
            )
        )

    @contextmanager
    def _guarded_import(self, candidate: Candidate) -> Iterator[None]:
        """Restore what an import changes of the process, and name the plugin; those of this distribution change nothing."""
        if candidate.is_bundled:
            yield
            return
        # A module is executed once in a process, but each bundle that loads it says what it changed.
        changed = _changed_at_import.setdefault(candidate.origin, []) if candidate.is_executed_once else []
        try:
            with unchanged_process(changed):
                yield
        finally:
            self.problems += changed_process(candidate.name, candidate.origin, "its import", changed)

    def _plugin(self, candidate: Candidate) -> tuple[object, str]:
        """Return a plugin and its version; of an isolated one what calls its worker process."""
        seconds = self.settings.isolate.get(candidate.name)
        if seconds is None:
            return candidate.load()
        if candidate.isolate is None:
            raise isolation.WorkerError("only plugins of plugins: folders: and modules: can be isolated")
        if not 0 < seconds <= isolation.MAX_SECONDS:
            raise isolation.WorkerError(
                f"plugins: isolate: needs seconds above 0 and up to {isolation.MAX_SECONDS:g}, got {seconds:g}"
            )
        code = candidate.isolate()
        worker = isolation.WorkerProcess(code, seconds)
        self.workers.append(worker)
        plugin, written = isolation.isolated_plugin(worker, HOOKS)
        return plugin, isolated_version(written, code)

    def _found(self, *, entry_points: bool, extra: Mapping[str, object]) -> Iterator[Candidate]:
        for candidate in self._everything(entry_points=entry_points, extra=extra):
            if candidate.name == CORE:
                message = f"a plugin can't be called {CORE}: reasons and records use that name for the core"
                self._refuse(Source(candidate.origin), message, "rename it")
            elif _NAME.fullmatch(candidate.name):
                yield candidate
            elif candidate.name in self.settings.disable:
                continue
            else:
                message = f"invalid name of a plugin: {candidate.name[:100]!r}"
                self._refuse(
                    Source(candidate.origin), message, "letters, digits, '_', '-' and '.', at most 100"
                )

    def _everything(self, *, entry_points: bool, extra: Mapping[str, object]) -> Iterator[Candidate]:
        if entry_points:
            yield from self._listed(from_entry_points)
        for folder in dict.fromkeys(folder.absolute() for folder in self.settings.folders):
            yield from self._listed(partial(from_folder, folder))
        yield from map(from_module, dict.fromkeys(self.settings.modules))
        yield from (from_object(name, plugin) for name, plugin in extra.items())

    def _listed(self, way: Callable[[], Iterable[Candidate]]) -> Iterable[Candidate]:
        try:
            return way()
        except PluginRefusedError as error:
            self.problems.append(error.problem)
            return ()

    def _unfit(self, plugin: object, candidate: Candidate) -> Iterator[Problem]:
        if isinstance(plugin, type):
            message = f"plugin {candidate.name} is a class"
            yield Problem(
                Severity.ERROR, Source(candidate.origin), message, "name an instance of it, or its module"
            )
        if plugin is None:
            yield Problem(Severity.ERROR, Source(candidate.origin), f"plugin {candidate.name} is None")
        if id(plugin) in self.objects:
            message = f"plugin {candidate.name} is the same as plugin {self.objects[id(plugin)]}"
            yield Problem(Severity.ERROR, Source(candidate.origin), message, "leave out one of the two")

    def _refuse(self, source: Source, message: str, hint: str) -> None:
        self.problems.append(Problem(Severity.ERROR, source, message, hint))


def _unknown(key: str, names: Iterable[str], found: Iterable[str]) -> Iterator[Problem]:
    known = tuple(found)
    for name in names:
        if name not in known:
            message = f"unknown plugin {name}"
            yield Problem(Severity.WARNING, Source(f"plugins: {key}"), message, suggest(name, known))
