"""Calls one hook of a plugin as the program calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from negotiator.bundle.model import NAMES
from negotiator.hooks import dropins
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.charges import CounterUsage
from negotiator.hooks.hook import Hook
from negotiator.hooks.loading import forget_modules_with, vet
from negotiator.hooks.manager import HOOKS, HookManager, LoadedPlugin
from negotiator.hooks.pluggy_adapter import Registry
from negotiator.hooks.settings import PluginSettings
from negotiator.records import Severity
from negotiator.records.text import suggest
from negotiator.testing import records

NAME = "tested"

_DEFAULTS: Mapping[str, Callable[[], Any]] = {
    "applications": tuple,
    "ads": lambda: records.table(""),
    "changes": tuple,
    "cycle": records.cycle_record,
    "kind": lambda: AdKind.STARTD,
    "matches": tuple,
    "now": lambda: records.cycle_record().now,
    "order": lambda: NAMES,
    "questions": tuple,
    "queues": records.queues,
    "report": lambda: "users",
    "request": records.request,
    "policy": lambda: None,
    "settings": lambda: None,
    "slots": lambda: records.table(""),
    "summary": records.summary,
    "used": lambda: CounterUsage({}, {}, {}),
    "users": tuple,
}


class PluginFailedError(AssertionError):
    """The plugin would be refused, or the call reported as a failure; the text is the reason."""


def call(plugin: object, hook: str, **arguments: Any) -> tuple[Any, ...]:
    """Call one hook of a plugin through the guard, and return the checked records of its answer.

    ``plugin`` is a module, an object, or the path of a ``.py`` file or package, which is loaded again at each call, without
    the checks of its owner and permissions. Omitted arguments are an empty table, one request, one cycle and its
    time, no application, question, user, match or change, the root queue alone, the report ``users`` without usage, no settings.

    :raises PluginFailedError: the plugin would be refused, does not implement the hook, raises, or gives a wrong answer.
    :raises TypeError: the hook has no argument of a name; the message lists those that it has.
    """
    manager = load(plugin)
    declared = HOOKS.get(hook)
    implemented = manager.plugins[0].hooks
    if declared is None or hook not in implemented:
        raise PluginFailedError(
            f"the plugin does not implement {hook}; it implements: {', '.join(implemented)}"
        )
    complete = _complete(declared, arguments)
    _declare(manager, declared, complete)
    answers = manager.ask(declared, **complete)
    if answers.failures:
        raise PluginFailedError("\n".join(map(str, answers.failures)))
    return tuple(answer.record for answer in answers.records)


def _declare(manager: HookManager, hook: Hook[..., Any], arguments: Mapping[str, Any]) -> None:
    """Let the plugin read what it declares of jobs, and make its object, as the program does when it loads a bundle."""
    settings, queues = arguments.get("settings", {NAME: None}), arguments.get("queues", records.queues())
    needs_object = "policy" in hook.arguments and arguments["policy"] is None
    made = manager.make_policies(queues, settings) if needs_object else ()
    for failures in (manager.job_attributes(settings)[1], manager.gate_attributes(settings)[1], made):
        if failures:
            raise PluginFailedError("\n".join(map(str, failures)))


def load(plugin: object) -> HookManager:
    """Return the manager of this one plugin, called ``tested``.

    :raises PluginFailedError: the plugin would be refused.
    """
    plugin = from_path(plugin)
    problems = tuple(vet(plugin, NAME, "plugin", HOOKS))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise PluginFailedError("\n".join(map(str, problems)))
    registry = Registry(HOOKS)
    registry.register(plugin, NAME)
    loaded = [LoadedPlugin(NAME, "0", "plugin")]
    manager = HookManager(registry, loaded, PluginSettings(slow_seconds=float("inf")))
    forget_modules_with(manager, [plugin])
    return manager


def from_path(plugin: object) -> object:
    """Return the module of a plugin that is given as a path, and any other plugin unchanged."""
    if not isinstance(plugin, str | Path):
        return plugin
    path = Path(plugin).resolve()
    dropped_in = dropins.DropIn(path.stem, path, path.parent)
    return dropins.load(dropped_in, dropins.read(dropped_in, trusted=False))


def _complete(hook: Hook[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a call: the given ones, and defaults for the others."""
    for name in given:
        if name not in hook.arguments:
            hint = suggest(name, hook.arguments, listed=False)
            valid = f"its arguments are: {', '.join(hook.arguments) or 'none'}"
            raise TypeError(f"unknown argument {name} of {hook.name}; {valid}{f' ({hint})' if hint else ''}")
    arguments = {name: _argument(name, given) for name in hook.arguments}
    return arguments | {name: {NAME: arguments[name]} for name in hook.own}


def _argument(name: str, given: Mapping[str, Any]) -> Any:
    value = given[name] if name in given else _DEFAULTS[name]()
    return tuple(value) if isinstance(value, list) else value
