"""The only file that imports pluggy: its markers and its registry, for the rest of this package."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import attrs
import pluggy

from negotiator.hooks import specs
from negotiator.hooks.hook import Hook, hooks_of

PROJECT = "negotiator"

#: Marks a function of a plugin as the implementation of the hook of the same name.
hookimpl = pluggy.HookimplMarker(PROJECT)
_hookspec = pluggy.HookspecMarker(PROJECT)


@attrs.frozen
class Marked:
    """A function that a plugin marked with ``hookimpl``, and the options it gave.

    ``hook`` is the function's name, or the ``specname`` that was given instead.
    """

    hook: str
    function: Callable[..., Any]
    options: Mapping[str, Any]


@attrs.frozen
class Implementation:
    """One plugin's implementation of one hook; ``arguments`` are those of the hook that it takes."""

    hook: Hook[..., Any]
    plugin: str
    function: Callable[..., Any]
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        """``negotiator_filter_slots of plugin maintenance``."""
        return f"{self.hook.name} of plugin {self.plugin}"


def import_lazy_names(plugin: object) -> None:
    """Import the names that a module imports when they are used first (PEP 562): pluggy sees none of them before.

    The attributes of other objects are left alone, as they may be properties.
    """
    if isinstance(plugin, ModuleType):
        for name in dir(plugin):
            getattr(plugin, name, None)


def marked_functions(plugin: object) -> tuple[Marked, ...]:
    """Return the functions that a plugin marked with ``hookimpl``, by attribute name; nothing is registered."""
    manager = pluggy.PluginManager(PROJECT)
    marked = []
    for name in dir(plugin):
        options = manager.parse_hookimpl_opts(plugin, name)
        if options is not None:
            marked.append(Marked(options.get("specname") or name, getattr(plugin, name), dict(options)))
    return tuple(marked)


def plugin_manager(hooks: Mapping[str, Hook[..., Any]] | None = None) -> pluggy.PluginManager:
    """Return a plain manager of pluggy that has the hooks of the contract, and no plugin.

    Programs that use pluggy themselves call plugins of this program with it::

        manager = plugin_manager()
        manager.register(maintenance)
        answers = manager.hook.negotiator_cycle_ended(summary=summary, cycle=cycle, settings=None)

    Its calls are pluggy's: the plugin that was registered last comes first, and nothing is checked, timed or caught.

    :param hooks: others than those of the contract, by name.
    """
    manager, contract = pluggy.PluginManager(PROJECT), ModuleType("contract")
    declared = hooks_of(*specs.CONTRACT) if hooks is None else hooks
    vars(contract).update({name: _hookspec(hook.function) for name, hook in declared.items()})
    manager.add_hookspecs(contract)
    return manager


class Registry:
    """The accepted plugins and the hooks that they implement.

    pluggy's own calls are not used: it calls the last registered first, drops ``None`` and stops at the first
    exception.
    """

    def __init__(self, hooks: Mapping[str, Hook[..., Any]]) -> None:
        self._manager = plugin_manager(hooks)

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin.

        :raises ValueError: pluggy refuses it.
        """
        try:
            self._manager.register(plugin, name=name)
            self._manager.check_pending()
        except pluggy.PluginValidationError as error:
            self._manager.unregister(name=name)
            raise ValueError(str(error)) from None

    def implementations(self, hook: Hook[..., Any]) -> tuple[Implementation, ...]:
        """Return all implementations of one hook, by plugin name."""
        registered = getattr(self._manager.hook, hook.name).get_hookimpls()
        return tuple(
            Implementation(hook, each.plugin_name, each.function, _arguments(hook, each.function))
            for each in sorted(registered, key=lambda each: each.plugin_name)
        )


def _arguments(hook: Hook[..., Any], function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the arguments of the hook that a function takes; pluggy would leave out those that have a default."""
    parameters = inspect.signature(function).parameters
    return tuple(name for name in hook.arguments if name in parameters)
