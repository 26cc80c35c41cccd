"""The sources of plugins, each as a list of candidates that can be loaded one by one."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType

import attrs

from negotiator.hooks import dropins
from negotiator.hooks.answers import clean
from negotiator.hooks.entry_points import InstalledPlugin, installed_plugins
from negotiator.hooks.failures import describe_error
from negotiator.hooks.trust import UntrustedError, check_module
from negotiator.records import Problem, Severity, Source

MAX_VERSION = 80


class PluginRefusedError(Exception):
    """A plugin, or a folder of plugins, that is refused, and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


@attrs.frozen
class Candidate:
    """A plugin that could be loaded. ``load`` returns it and its version; it may raise anything.

    Only ``installed`` plugins can bring commands, since commands are looked up before a bundle is known. ``isolate`` reads the
    code for a worker process without executing it; None if the plugin cannot be isolated.
    """

    name: str
    origin: str
    load: Callable[[], tuple[object, str]]
    installed: bool = False
    is_bundled: bool = False  # with the program, in its own distribution
    is_executed_once: bool = False  # in a process, as Python's modules are
    isolate: Callable[[], PluginCode] | None = None


@attrs.frozen
class PluginCode:
    """The code of a plugin, to be executed by a worker process. ``digest`` is part of its version."""

    execute: Callable[[], object]
    digest: str

    def load(self) -> object:
        """Execute the code, and return the plugin."""
        return self.execute()


def from_entry_points() -> tuple[Candidate, ...]:
    """Return the installed plugins, by name; none is imported yet.

    :raises PluginRefusedError: the entry points can't be read; one broken distribution is enough.
    """
    try:
        found = sorted(installed_plugins())
    except Exception as error:
        message = f"the entry points of installed distributions can't be read: {describe_error(error)}"
        hint = "some installed distribution is broken; pip check may name it"
        raise PluginRefusedError(Problem(Severity.ERROR, Source("entry points"), message, hint)) from error
    return tuple(
        Candidate(
            entry.name,
            f"entry point {entry.name} = {entry.value} ({_distribution(entry)})",
            _EntryPointLoad(entry),
            installed=True,
            is_executed_once=True,
            is_bundled=entry.distribution == "pool-negotiator",
        )
        for entry in found
    )


def _distribution(entry: InstalledPlugin) -> str:
    return f"{entry.distribution} {entry.version}" if entry.distribution else "unknown distribution"


def from_folder(folder: Path) -> tuple[Candidate, ...]:
    """Return the plugins in a folder, by name.

    :raises PluginRefusedError: the folder itself is refused.
    """
    try:
        found = dropins.find(folder)
    except UntrustedError as error:
        raise PluginRefusedError(_untrusted(error, f"plugins folder {folder}")) from None
    except OSError as error:
        message = f"the plugins folder can't be read: {error.strerror}"
        raise PluginRefusedError(Problem(Severity.ERROR, Source(str(folder)), message)) from None
    return tuple(
        Candidate(each.name, str(each.path), load, isolate=load.isolate)
        for each, load in ((each, _DropInLoad(each)) for each in found)
    )


def from_module(name: str) -> Candidate:
    """Return the plugin that a bundle names by its module."""
    load = _ModuleLoad(name)
    return Candidate(name, f"module {name}", load, is_executed_once=True, isolate=load.isolate)


def from_object(name: str, plugin: object) -> Candidate:
    """Return a plugin that the caller already has, as tests do; its version is its ``__version__``."""
    version = _version(getattr(plugin, "__version__", None)) or "0"
    return Candidate(name, f"object {name}", lambda: (plugin, version))


def refusal(candidate: Candidate, error: BaseException) -> Problem:
    """Return the problem for an exception at loading, at the line of the plugin that raised it, if known."""
    if isinstance(error, UntrustedError):
        return _untrusted(error, f"plugin {candidate.name}")
    message = f"plugin {candidate.name} can't be loaded: {describe_error(error)}"
    source, excerpt = _first_line(error.__traceback__), ""
    if source is None and isinstance(error, SyntaxError) and error.filename:
        source = Source(error.filename, error.lineno or 0, error.offset or 0)
        excerpt = (error.text or "").rstrip("\n")
        message = f"plugin {candidate.name} can't be loaded: {type(error).__name__}: {error.msg}"
    return Problem(Severity.ERROR, source or Source(candidate.origin), message, excerpt=excerpt)


@attrs.frozen
class _EntryPointLoad:
    entry: InstalledPlugin

    def __call__(self) -> tuple[object, str]:
        plugin = self.entry.load()
        return plugin, _version(self.entry.version) or "0"


@attrs.frozen
class _DropInLoad:
    plugin: dropins.DropIn

    def __call__(self) -> tuple[object, str]:
        code = dropins.read(self.plugin)
        module = dropins.load(self.plugin, code)
        # With the hash, since __version__ may stay the same when the file is edited.
        written = _version(getattr(module, "__version__", None))
        return module, "+".join(filter(None, (written, dropins.digest(code))))

    def isolate(self) -> PluginCode:
        code = dropins.read(self.plugin)
        return PluginCode(partial(dropins.load, self.plugin, code), dropins.digest(code))


@attrs.frozen
class _ModuleLoad:
    name: str

    def __call__(self) -> tuple[object, str]:
        check_module(self.name)
        module = importlib.import_module(self.name)
        written = _version(getattr(module, "__version__", None))
        return module, "+".join(filter(None, (written, _file_digest(module)))) or "0"

    def isolate(self) -> PluginCode:
        check_module(self.name)
        return PluginCode(partial(importlib.import_module, self.name), "")


def isolated_version(written: str, code: PluginCode) -> str:
    """Return the version of a plugin in a worker process, which names its ``__version__``."""
    return "+".join(filter(None, (_version(written), code.digest))) or "0"


def _version(value: object) -> str:
    """Return a version without blanks, as audit records separate it from the name by one; empty if missing."""
    return "".join(clean(value, MAX_VERSION).split()) if isinstance(value, str) else ""


def _file_digest(module: object) -> str:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        return ""
    return f"sha256:{hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]}"


def _untrusted(error: UntrustedError, subject: str) -> Problem:
    return Problem(
        Severity.ERROR, Source(str(error.path)), f"{subject} is refused: {error.message}", error.hint
    )


def _first_line(traceback: TracebackType | None) -> Source | None:
    """Return the first line outside of the import system: the plugin's own, also if the exception comes from a module that it called."""
    while traceback is not None:
        if not _is_machinery(traceback.tb_frame.f_globals.get("__name__", "")):
            return Source(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return None


def _is_machinery(module: str) -> bool:
    # Where importlib_metadata is imported, such as by Dask, entry points are its own.
    return module.split(".", maxsplit=1)[0] in {"importlib", "importlib_metadata"} or module.startswith(
        "negotiator.hooks."
    )
